package io.ringfence.fencing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ringfence.fencing.FencedOutException.Reason;
import io.ringfence.servers.PostgresDatabase;
import io.ringfence.servers.SharedServers;
import java.sql.SQLException;
import java.util.concurrent.atomic.AtomicBoolean;
import javax.sql.DataSource;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A fence of more than one resource. */
@ExtendWith(SharedServers.class)
class SeveralFencesIT {
    private final FakeLease lease = FakeLease.of(7);
    private DataSource dataSource;
    private ResourceFence both;

    @BeforeEach
    void tables(PostgresDatabase database) throws SQLException {
        dataSource = database.dataSource();
        Sql.execute(
                dataSource,
                FenceSchema.postgres().fenceTable(),
                FenceSchema.postgres().inSchema("public").fenceFunctions(),
                "CREATE TABLE t (v int)",
                "INSERT INTO t VALUES (0)");
        both = ResourceFence.on(dataSource, "payments", "invoices");
    }

    private String value() throws SQLException {
        return Sql.one(dataSource, "SELECT v FROM t");
    }

    @Test
    void raisesEachOfThem() throws Exception {
        both.raise(lease);

        assertThat(both.resources()).containsExactly("invoices", "payments");
        assertThat(Sql.rows(dataSource, "SELECT resource, token FROM ringfence_fence ORDER BY raised_at"))
                .containsExactly("invoices|7", "payments|7");
    }

    @ParameterizedTest
    @EnumSource(SealMode.class)
    void refusesTheCommit_whenAnyOfThemWasRaised_andNamesIt(SealMode mode) throws Exception {
        ResourceFence fence = both.sealMode(mode);
        fence.raise(lease);
        fence.useTransaction(lease, connection -> Sql.execute(connection, "UPDATE t SET v = 1"));
        assertThat(value()).isEqualTo("1");
        for (String resource : both.resources()) {
            fence.raise(lease);
            ResourceFence.on(dataSource, resource).raise(FakeLease.of(8));

            assertThatThrownBy(() ->
                            fence.useTransaction(lease, connection -> Sql.execute(connection, "UPDATE t SET v = 2")))
                    .isInstanceOfSatisfying(
                            FencedOutException.class,
                            e -> assertThat(e.reason()).isEqualTo(Reason.SUPERSEDED))
                    .hasMessageContaining("resource '" + resource + "'");
            assertThat(value()).isEqualTo("1");
            Sql.execute(
                    dataSource,
                    "ALTER TABLE ringfence_fence DISABLE TRIGGER USER",
                    "DELETE FROM ringfence_fence",
                    "ALTER TABLE ringfence_fence ENABLE TRIGGER USER");
        }
    }

    @ParameterizedTest
    @EnumSource(SealMode.class)
    void namesTheOneThatWasNotRaised(SealMode mode) throws Exception {
        ResourceFence.on(dataSource, "invoices").raise(lease);

        assertThatThrownBy(() -> both.sealMode(mode).useTransaction(lease, connection -> {}))
                .isInstanceOfSatisfying(
                        FencedOutException.class, e -> assertThat(e.reason()).isEqualTo(Reason.NOT_RAISED))
                .hasMessageContaining("resource 'payments'");
    }

    @Test
    void refusesNamesThatAreBlankOrThereTwice() {
        assertThatThrownBy(() -> ResourceFence.on(dataSource, "a", " ")).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> ResourceFence.on(dataSource, "a", "b", "a"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("'a'");
    }

    @Test
    void workOfALeaderStartsWithTheRaise_orNotAtAll() throws Exception {
        AtomicBoolean ran = new AtomicBoolean();
        both.raiseBefore(held -> ran.set(true)).lead(lease);
        assertThat(ran).isTrue();
        assertThat(Sql.one(dataSource, "SELECT min(token) FROM ringfence_fence"))
                .isEqualTo("7");

        ran.set(false);
        assertThatThrownBy(() -> both.raiseBefore(held -> ran.set(true)).lead(FakeLease.of(6)))
                .isInstanceOf(FencedOutException.class);
        assertThat(ran).isFalse();
    }
}
