package io.ringfence.fencing.jdbi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ringfence.fencing.FakeLease;
import io.ringfence.fencing.FenceSchema;
import io.ringfence.fencing.FencedOutException;
import io.ringfence.fencing.FencedOutException.Reason;
import io.ringfence.fencing.NoMatchingRowException;
import io.ringfence.fencing.Sql;
import java.sql.SQLException;
import java.util.List;
import javax.sql.DataSource;
import org.jdbi.v3.core.Jdbi;
import org.jdbi.v3.sqlobject.SqlObjectPlugin;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What JDBI and fences do together on any database that row fences work on. */
@Tag("jdbi")
abstract class OtherDatabaseContract {
    private final DataSource dataSource;
    private final Jdbi jdbi;

    OtherDatabaseContract(DataSource empty, FenceSchema schema) throws SQLException {
        dataSource = empty;
        Sql.execute(
                empty,
                "CREATE TABLE invoice (id int PRIMARY KEY, status varchar(40))",
                schema.tokenColumn("invoice"),
                "INSERT INTO invoice (id, status, fencing_token) VALUES (1, 'open', 5), (2, 'open', 5), (3, 'open', 0)");
        jdbi = Jdbi.create(empty)
                .installPlugin(new SqlObjectPlugin())
                .installPlugin(JdbiFence.onColumn("fencing_token").key("id"));
    }

    private String row(int id) throws SQLException {
        return Sql.one(dataSource, "SELECT status, fencing_token FROM invoice WHERE id = " + id);
    }

    @Test
    void writesOrRefuses() throws SQLException {
        jdbi.useExtension(InvoiceObject.class, object -> {
            assertThat(object.asInt(FakeLease.of(7), "x", 1)).isEqualTo(1);
            object.positional("y", 1, FakeLease.of(7));
            assertThatThrownBy(() -> object.asVoid(FakeLease.of(6), "z", 1))
                    .isInstanceOfSatisfying(
                            FencedOutException.class,
                            e -> assertThat(e.reason()).isEqualTo(Reason.SUPERSEDED));
            assertThatThrownBy(() -> object.asVoid(FakeLease.of(7), "z", 99))
                    .isInstanceOf(NoMatchingRowException.class);
        });
        assertThat(row(1)).isEqualTo("y|7");
    }

    @Test
    void commitsAllOfABatch_orNothing() throws SQLException {
        jdbi.useExtension(InvoiceObject.class, object -> {
            object.chunked(FakeLease.of(7), "x", List.of(1, 2));
            assertThatThrownBy(() -> object.allVoid(FakeLease.of(6), "y", List.of(3, 1)))
                    .isInstanceOf(FencedOutException.class);
        });
        assertThat(row(2)).isEqualTo("x|7");
        assertThat(row(3)).isEqualTo("open|0");
    }

    @Test
    void rollsBack_whenARefusalIsSwallowed() throws SQLException {
        assertThatThrownBy(() -> jdbi.useTransaction(handle -> {
                    InvoiceObject object = handle.attach(InvoiceObject.class);
                    object.asVoid(FakeLease.of(4), "x", 3);
                    assertThatThrownBy(() -> object.asVoid(FakeLease.of(4), "x", 1))
                            .isInstanceOf(FencedOutException.class);
                }))
                .isInstanceOf(FencedOutException.class);
        assertThat(row(3)).isEqualTo("open|0");
    }
}
