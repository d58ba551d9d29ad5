package io.ringfence.fencing.jdbi;

import io.ringfence.election.FencingTokenSource;
import io.ringfence.fencing.NotFenceableException;
import java.lang.annotation.Annotation;
import java.lang.reflect.Method;
import java.lang.reflect.Parameter;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.Set;
import java.util.stream.BaseStream;
import org.jdbi.v3.core.extension.annotation.UseExtensionHandler;
import org.jdbi.v3.core.generic.GenericTypes;
import org.jdbi.v3.core.result.ResultIterable;
import org.jdbi.v3.sqlobject.customizer.SqlStatementCustomizingAnnotation;
import org.jdbi.v3.sqlobject.statement.SqlBatch;
import org.jdbi.v3.sqlobject.statement.SqlQuery;
import org.jdbi.v3.sqlobject.statement.SqlUpdate;

/** Refuses methods of SQL objects that look fenced and would not be. */
final class MethodCheck {
    private static final Set<Class<? extends Annotation>> FENCEABLE =
            Set.of(SqlUpdate.class, SqlBatch.class, SqlQuery.class);

    private final Class<?> type;
    private final Method method;

    MethodCheck(Class<?> type, Method method) {
        this.type = type;
        this.method = method;
    }

    /** Tells whether the method is fenced, and throws if it is wrong. */
    boolean isFenced() {
        List<Parameter> fenced = Arrays.stream(method.getParameters())
                .filter(parameter -> parameter.isAnnotationPresent(Fenced.class))
                .toList();
        if (hasStatement()) {
            for (Parameter parameter : method.getParameters()) {
                requireMarked(parameter);
            }
        }
        if (fenced.isEmpty()) {
            return false;
        }
        if (fenced.size() > 1) {
            throw refused("@Fenced marks two parameters", "mark the lease of the present term only");
        }
        requireLease(fenced.get(0));
        requireFenceable();
        requireOptions(fenced.get(0).getAnnotation(Fenced.class));
        return true;
    }

    private boolean hasStatement() {
        return Arrays.stream(method.getAnnotations())
                .anyMatch(annotation -> annotation.annotationType().isAnnotationPresent(UseExtensionHandler.class));
    }

    private void requireMarked(Parameter parameter) {
        boolean said = Arrays.stream(parameter.getAnnotations())
                .anyMatch(annotation ->
                        annotation.annotationType().isAnnotationPresent(SqlStatementCustomizingAnnotation.class));
        if (isLease(parameter) && !said) {
            throw refused(
                    "its parameter " + parameter + " carries a token and does not fence the statement",
                    "write @Fenced before it, or @Bind if its number is all that the statement needs");
        }
    }

    private void requireLease(Parameter parameter) {
        if (!isLease(parameter)) {
            throw refused("@Fenced marks " + parameter + ", which carries no token", "mark the Lease");
        }
    }

    private boolean isLease(Parameter parameter) {
        return FencingTokenSource.class.isAssignableFrom(
                GenericTypes.getErasedType(GenericTypes.resolveType(parameter.getParameterizedType(), type)));
    }

    private void requireFenceable() {
        if (FENCEABLE.stream().noneMatch(method::isAnnotationPresent)) {
            throw refused(
                    "@Fenced fences @SqlUpdate, @SqlBatch, and @SqlQuery with RETURNING, and this is none of them",
                    hasStatement()
                            ? "run it in JdbiFence.inTransaction, which fences whatever a transaction does"
                            : "write @Fenced at the methods that it calls, which have the statements");
        }
        Class<?> returned = method.getReturnType();
        SqlBatch batch = method.getAnnotation(SqlBatch.class);
        if (batch != null && !batch.transactional()) {
            throw refused(
                    "a fenced batch is one transaction, and @SqlBatch says transactional = false", "leave that out");
        }
        if (batch != null
                && (BaseStream.class.isAssignableFrom(returned) || Iterator.class.isAssignableFrom(returned))) {
            throw refused("its entries would run one by one as its result is read", "return a List or an array");
        }
        if (ResultIterable.class.isAssignableFrom(returned)) {
            throw refused("it would write whenever its result is read, or never", "return a List or an Optional");
        }
    }

    private void requireOptions(Fenced options) {
        boolean exact = options.rows() == Fenced.Rows.EXACTLY;
        if (exact ? options.exactly() < 1 : options.exactly() != 0) {
            throw refused(
                    "@Fenced says rows = " + options.rows() + " and exactly = " + options.exactly(),
                    "write rows = EXACTLY, exactly = n with n at least 1, or neither");
        }
    }

    private NotFenceableException refused(String why, String remedy) {
        return new NotFenceableException(
                Names.of(type, method) + " is no method that can be fenced: " + why + "; " + remedy);
    }
}
