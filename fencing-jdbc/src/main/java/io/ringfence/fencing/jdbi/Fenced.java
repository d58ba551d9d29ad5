package io.ringfence.fencing.jdbi;

import io.ringfence.election.FencingTokenSource;
import io.ringfence.fencing.ExpectedRows;
import java.lang.annotation.Annotation;
import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.lang.reflect.Method;
import java.lang.reflect.Parameter;
import java.lang.reflect.Type;
import org.jdbi.v3.sqlobject.customizer.SqlStatementCustomizerFactory;
import org.jdbi.v3.sqlobject.customizer.SqlStatementCustomizingAnnotation;
import org.jdbi.v3.sqlobject.customizer.SqlStatementParameterCustomizer;
import org.jspecify.annotations.Nullable;

/**
 * Marks the lease of a method of a SQL object: its statement is fenced with the token of that lease.
 *
 * <pre>{@code
 * @SqlUpdate("UPDATE invoice SET status = :status WHERE id = :id")
 * void close(@Fenced Lease lease, long id, String status);
 * }</pre>
 *
 * <p>For methods with {@code @SqlUpdate}, {@code @SqlBatch} and, where the statement has RETURNING, {@code @SqlQuery}, on a
 * parameter that is a {@link io.ringfence.election.Lease} or another {@link FencingTokenSource}. The {@code Jdbi} needs
 * {@link JdbiFence} as a plugin; what this leaves out is as that fence has it. A batch is one transaction with all its
 * chunks.
 *
 * <p>A SQL object in which this stands where it cannot work is refused when it is attached, and so is one with a lease that
 * is not marked: bind it by {@code @Bind} if its number is all that is wanted.
 */
@Documented
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.PARAMETER)
@SqlStatementCustomizingAnnotation(Fenced.Factory.class)
public @interface Fenced {

    /** {@return the token column, as SQL writes it} */
    String column() default "";

    /** {@return the columns of the key, as SQL writes them} */
    String[] key() default {};

    /**
     * {@return what the statement calls the table that it writes to, for {@code <fenceWhere>} beside another table} Its
     * alias, or its name if it has none.
     */
    String alias() default "";

    /** {@return how many rows the statement is to write, each entry of a batch for itself} */
    Rows rows() default Rows.AS_THE_PLUGIN;

    /** {@return how many rows exactly, with {@link Rows#EXACTLY}} */
    long exactly() default 0;

    /** How many rows a statement is to write; see {@link ExpectedRows}. */
    enum Rows {
        /** As the plugin has it, which is one if nothing else was said. */
        AS_THE_PLUGIN,
        /** {@link ExpectedRows#one()}. */
        ONE,
        /** {@link ExpectedRows#exactly(long)}, with the number of {@link Fenced#exactly()}. */
        EXACTLY,
        /** {@link ExpectedRows#atLeastOne()}. */
        AT_LEAST_ONE,
        /** {@link ExpectedRows#any()}. */
        ANY,
        /** {@link ExpectedRows#unchecked()}. */
        UNCHECKED;

        ExpectedRows expected(long exactly, ExpectedRows ofThePlugin) {
            return switch (this) {
                case AS_THE_PLUGIN -> ofThePlugin;
                case ONE -> ExpectedRows.one();
                case EXACTLY -> ExpectedRows.exactly(exactly);
                case AT_LEAST_ONE -> ExpectedRows.atLeastOne();
                case ANY -> ExpectedRows.any();
                case UNCHECKED -> ExpectedRows.unchecked();
            };
        }
    }

    /** Made by JDBI. */
    final class Factory implements SqlStatementCustomizerFactory {

        /** Made by JDBI. */
        public Factory() {}

        @Override
        public SqlStatementParameterCustomizer createForParameter(
                Annotation annotation,
                Class<?> sqlObjectType,
                Method method,
                Parameter parameter,
                int index,
                Type type) {
            Fenced options = (Fenced) annotation;
            return (statement, lease) -> {
                HandleConnection.require(statement.getHandle(), "@Fenced at " + Names.of(sqlObjectType, method))
                        .fence()
                        .like(options)
                        .call(source(sqlObjectType, method, lease))
                        .mark(statement, options.alias());
            };
        }

        static FencingTokenSource source(Class<?> type, Method method, @Nullable Object lease) {
            if (lease instanceof FencingTokenSource source) {
                return source;
            }
            throw new IllegalArgumentException(
                    Names.of(type, method) + " was called without a lease: the argument marked by @Fenced is " + lease);
        }
    }
}
