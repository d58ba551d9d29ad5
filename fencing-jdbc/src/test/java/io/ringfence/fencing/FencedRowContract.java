package io.ringfence.fencing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ringfence.election.LeaseLostException;
import io.ringfence.fencing.FencedOutException.Reason;
import java.sql.SQLException;
import org.junit.jupiter.api.Test;

/** The builder for one row, on every database that row fences work on. */
abstract class FencedRowContract extends RowFenceFixture {
    private final FakeLease lease = FakeLease.of(7);

    FencedRowContract(FencedDatabase empty) {
        super(empty);
    }

    private FencedRow row(int id) {
        return fence.row("invoice").where("id", id);
    }

    @Test
    void updates_unlessTheRowIsNewerOrMissing() throws SQLException {
        row(1).set("status", "closed").update(connection, lease);
        assertThat(invoice(1)).isEqualTo("closed|7");
        row(1).set("status", null).update(connection, lease);
        assertThat(invoice(1)).isEqualTo("null|7");

        assertThatThrownBy(() -> row(1).set("status", "x").update(connection, FakeLease.of(6)))
                .isInstanceOfSatisfying(FencedOutException.class, e -> {
                    assertThat(e.reason()).isEqualTo(Reason.SUPERSEDED);
                    assertThat(e.key()).contains("id = 1");
                });
        assertThatThrownBy(() -> row(99).set("status", "x").update(connection, lease))
                .isInstanceOf(NoMatchingRowException.class);
    }

    @Test
    void deletes_unlessTheRowIsNewer() throws SQLException {
        assertThatThrownBy(() -> row(1).delete(connection, FakeLease.of(4))).isInstanceOf(FencedOutException.class);
        row(1).where("status", "open").delete(connection, lease);

        assertThat(Sql.one(dataSource, "SELECT count(*) FROM invoice")).isEqualTo("2");
    }

    @Test
    void insertsWithOurToken() throws SQLException {
        row(9).set("status", "new").insert(connection, lease);

        assertThat(invoice(9)).isEqualTo("new|7");
        assertThatThrownBy(() -> row(9).insert(connection, lease))
                .isInstanceOfSatisfying(
                        SQLException.class, e -> assertThat(e.getSQLState()).startsWith("23"));
    }

    @Test
    void keepsADescription_whenItIsExtended() throws SQLException {
        FencedRow row = row(2);
        row.set("status", "aside");

        assertThatThrownBy(() -> row.update(connection, lease))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("Nothing to write to invoice");
    }

    @Test
    void refusesNamesThatAreNone_andRowsWithoutAKey() throws SQLException {
        assertThatThrownBy(() ->
                        fence.row("invoice SET status = 1; --").where("id", 1).delete(connection, lease))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> row(1).set("status = 'x', id", 2).update(connection, lease))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> fence.row("invoice").delete(connection, lease))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("Which row of invoice?");
        assertThatThrownBy(() -> row(1).set("id", 2).update(connection, lease))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("both key and value");
        assertThatThrownBy(() -> row(1).set("fencing_token", 99).update(connection, lease))
                .isInstanceOf(NotFenceableException.class);
        assertThatThrownBy(() -> row(8).set("fencing_token", 99).insert(connection, lease))
                .isInstanceOf(NotFenceableException.class);
        assertThat(invoice(1)).isEqualTo("open|5");
    }

    @Test
    void asksTheLease() {
        lease.lose();

        assertThatThrownBy(() -> row(1).set("status", "x").update(connection, lease))
                .isInstanceOf(LeaseLostException.class);
    }
}
