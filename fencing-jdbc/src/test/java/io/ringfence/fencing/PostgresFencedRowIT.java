package io.ringfence.fencing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ringfence.servers.PostgresDatabase;
import io.ringfence.servers.SharedServers;
import java.sql.SQLException;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** The builder on PostgreSQL. */
@Tag("postgres")
@ExtendWith(SharedServers.class)
class PostgresFencedRowIT extends FencedRowContract {

    PostgresFencedRowIT(PostgresDatabase empty) {
        super(FencedDatabase.postgres(empty.dataSource()));
    }

    @Test
    void upserts_unlessTheRowIsNewer() throws SQLException {
        fence.row("public.invoice").where("id", 9).set("status", "new").upsert(connection, FakeLease.of(7));
        assertThat(invoice(9)).isEqualTo("new|7");
        fence.row("public.invoice").where("id", 9).set("status", "again").upsert(connection, FakeLease.of(8));
        assertThat(invoice(9)).isEqualTo("again|8");
        fence.row("invoice").where("id", 9).upsert(connection, FakeLease.of(9));
        assertThat(invoice(9)).isEqualTo("again|9");

        assertThatThrownBy(() ->
                        fence.row("invoice").where("id", 9).set("status", "x").upsert(connection, FakeLease.of(8)))
                .isInstanceOfSatisfying(
                        FencedOutException.class,
                        e -> assertThat(e.reason()).isEqualTo(FencedOutException.Reason.SUPERSEDED));
    }
}
