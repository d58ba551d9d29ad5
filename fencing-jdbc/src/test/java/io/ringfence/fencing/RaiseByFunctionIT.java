package io.ringfence.fencing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ringfence.fencing.FencedOutException.Reason;
import io.ringfence.servers.PostgresDatabase;
import java.sql.SQLException;
import org.junit.jupiter.api.Test;

class RaiseByFunctionIT extends RaiseIT {

    @Override
    boolean byFunction() {
        return true;
    }

    /** Whoever meddles with the table keeps the fence closed. */
    @Test
    void isUnknown_whenSomethingElseRefusesTheRaise(PostgresDatabase database) throws SQLException {
        Sql.execute(
                database.dataSource(),
                FenceSchema.postgres().fenceTable(),
                FenceSchema.postgres().inSchema("public").fenceFunctions(),
                "CREATE FUNCTION no() RETURNS trigger LANGUAGE plpgsql AS"
                        + " 'BEGIN RAISE EXCEPTION ''not today'' USING ERRCODE = ''RF001''; END'",
                "CREATE TRIGGER no BEFORE INSERT ON ringfence_fence FOR EACH ROW EXECUTE FUNCTION no()");

        assertThatThrownBy(() ->
                        ResourceFence.on(database.dataSource(), "invoices").raise(FakeLease.of(7)))
                .isInstanceOfSatisfying(FencedOutException.class, e -> {
                    assertThat(e.reason()).isEqualTo(Reason.UNKNOWN);
                    assertThat(e.observed()).isEmpty();
                    assertThat(e).hasMessageContaining("RF001").hasMessageContaining("not today");
                });
    }
}
