package io.ringfence.fencing.jdbi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ringfence.election.FencingToken;
import io.ringfence.election.Lease;
import io.ringfence.fencing.NotFenceableException;
import java.util.Iterator;
import java.util.List;
import java.util.UUID;
import org.jdbi.v3.core.Jdbi;
import org.jdbi.v3.core.result.ResultIterable;
import org.jdbi.v3.sqlobject.SqlObject;
import org.jdbi.v3.sqlobject.SqlObjectPlugin;
import org.jdbi.v3.sqlobject.customizer.Bind;
import org.jdbi.v3.sqlobject.statement.GetGeneratedKeys;
import org.jdbi.v3.sqlobject.statement.SqlBatch;
import org.jdbi.v3.sqlobject.statement.SqlCall;
import org.jdbi.v3.sqlobject.statement.SqlQuery;
import org.jdbi.v3.sqlobject.statement.SqlScript;
import org.jdbi.v3.sqlobject.statement.SqlUpdate;
import org.jdbi.v3.sqlobject.transaction.Transaction;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A SQL object that only looks fenced is refused before any of its methods can run. */
@Tag("jdbi")
class MethodCheckTest {
    private static final String CLOSE = "UPDATE invoice SET status = 'closed'";

    private final Jdbi jdbi = Jdbi.create("jdbc:h2:mem:" + UUID.randomUUID())
            .installPlugin(new SqlObjectPlugin())
            .installPlugin(JdbiFence.onColumn("fencing_token").key("id"));

    interface UnmarkedUpdate {
        @SqlUpdate(CLOSE)
        void close(Lease lease);
    }

    interface UnmarkedQuery {
        @SqlQuery("SELECT 1")
        int find(Lease lease);
    }

    interface UnmarkedToken {
        @SqlUpdate(CLOSE)
        void close(FencingToken token);
    }

    interface UnmarkedBatch {
        @SqlBatch(CLOSE)
        void close(Lease lease, List<Integer> ids);
    }

    interface UnmarkedScript {
        @SqlScript(CLOSE)
        void close(Lease lease);
    }

    interface Generic<T> {
        @SqlUpdate(CLOSE)
        void close(T lease);
    }

    interface UnmarkedGeneric extends Generic<Lease> {}

    interface OneOfTwo {
        @SqlUpdate(CLOSE)
        void close(@Fenced Lease lease, Lease other);
    }

    interface Two {
        @SqlUpdate(CLOSE)
        void close(@Fenced Lease lease, @Fenced Lease other);
    }

    interface NoLease {
        @SqlUpdate(CLOSE)
        void close(@Fenced long token);
    }

    interface FencedScript {
        @SqlScript(CLOSE)
        void close(@Fenced Lease lease);
    }

    interface FencedProcedure {
        @SqlCall("{call close()}")
        void close(@Fenced Lease lease);
    }

    interface FencedDefault extends SqlObject {
        default void close(@Fenced Lease lease) {
            throw new IllegalStateException("must not be called");
        }
    }

    interface SeveralTransactions {
        @SqlBatch(value = CLOSE, transactional = false)
        void close(@Fenced Lease lease, List<Integer> ids);
    }

    interface LazyBatch {
        @SqlBatch(CLOSE)
        @GetGeneratedKeys
        Iterator<Integer> close(@Fenced Lease lease, List<Integer> ids);
    }

    interface Deferred {
        @SqlQuery(CLOSE + " RETURNING id")
        ResultIterable<Integer> close(@Fenced Lease lease);
    }

    interface ExactlyNothing {
        @SqlUpdate(CLOSE)
        void close(@Fenced(rows = Fenced.Rows.EXACTLY) Lease lease);
    }

    interface ExactlyAndNot {
        @SqlUpdate(CLOSE)
        void close(@Fenced(exactly = 3) Lease lease);
    }

    interface Right {
        @SqlUpdate(CLOSE)
        void close(@Fenced Lease lease);

        @SqlUpdate("INSERT INTO log VALUES (:token)")
        void log(@Bind("token") Lease lease);

        @SqlQuery("SELECT 1")
        int read();

        @Transaction
        default void closeTwice(Lease lease) {
            close(lease);
            close(lease);
        }
    }

    @ParameterizedTest
    @ValueSource(
            classes = {
                UnmarkedUpdate.class,
                UnmarkedQuery.class,
                UnmarkedToken.class,
                UnmarkedBatch.class,
                UnmarkedScript.class,
                UnmarkedGeneric.class,
                OneOfTwo.class,
                Two.class,
                NoLease.class,
                FencedScript.class,
                FencedProcedure.class,
                FencedDefault.class,
                SeveralTransactions.class,
                LazyBatch.class,
                Deferred.class,
                ExactlyNothing.class,
                ExactlyAndNot.class,
            })
    void refusesTheMethodByName_whenTheObjectIsAttached(Class<?> type) {
        String named = type.getSimpleName() + (type == UnmarkedQuery.class ? ".find" : ".close");

        jdbi.useHandle(handle -> assertThatThrownBy(() -> handle.attach(type))
                .isInstanceOf(NotFenceableException.class)
                .hasMessageStartingWith(named + " is no method that can be fenced: "));
        assertThatThrownBy(() -> jdbi.useExtension(type, object -> {}))
                .isInstanceOf(NotFenceableException.class)
                .hasMessageContaining(named);
    }

    @Test
    void takesWhatIsRight() {
        assertThat(jdbi.onDemand(Right.class)).isNotNull();
        jdbi.useHandle(handle -> assertThat(handle.attach(Right.class).read()).isEqualTo(1));
    }

    @Test
    void refusesASecondPlugin() {
        JdbiFence other = JdbiFence.onColumn("epoch");

        assertThatThrownBy(() -> jdbi.installPlugin(other))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("has a JdbiFence already");
    }
}
