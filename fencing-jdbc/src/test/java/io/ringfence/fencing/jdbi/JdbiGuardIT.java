package io.ringfence.fencing.jdbi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ringfence.fencing.FakeLease;
import io.ringfence.fencing.FenceSchema;
import io.ringfence.fencing.FencedDataSource;
import io.ringfence.fencing.FencedOutException;
import io.ringfence.fencing.NoLeaseException;
import io.ringfence.fencing.ResourceFence;
import io.ringfence.fencing.Sql;
import io.ringfence.servers.PostgresDatabase;
import io.ringfence.servers.SharedServers;
import java.sql.SQLException;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import javax.sql.DataSource;
import org.jdbi.v3.core.Jdbi;
import org.jdbi.v3.sqlobject.SqlObjectPlugin;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.postgresql.PGConnection;

/** JDBI beside the other fences: guards in the database, and a DataSource that seals. */
@Tag("jdbi")
@ExtendWith(SharedServers.class)
class JdbiGuardIT {
    private final FakeLease older = FakeLease.of(6);
    private final FakeLease newer = FakeLease.of(7);
    private final DataSource dataSource;
    private final InvoiceTable invoices;

    JdbiGuardIT(PostgresDatabase empty) throws SQLException {
        dataSource = empty.dataSource();
        invoices = new InvoiceTable(dataSource).create();
    }

    private static Jdbi jdbi(DataSource over) {
        return Jdbi.create(over)
                .installPlugin(new SqlObjectPlugin())
                .installPlugin(JdbiFence.onColumn("fencing_token").key("id"));
    }

    @Test
    void tellsGuardsItsToken() throws SQLException {
        invoices.execute(FenceSchema.postgres().rowGuard("invoice"));
        Jdbi jdbi = jdbi(dataSource);

        assertThatThrownBy(() -> jdbi.useHandle(handle -> handle.execute("UPDATE invoice SET status = 'plain'")))
                .hasMessageContaining("comes without a fencing token");
        jdbi.useExtension(InvoiceObject.class, object -> {
            object.asVoid(older, "a", 1);
            assertThat(object.returningOne(older, "b", 1).status()).isEqualTo("b");
            assertThat(object.generated(older, "c", 1).status()).isEqualTo("c");
            object.allVoid(older, "d", List.of(1, 2));
        });
        jdbi.useTransaction(handle -> handle.attach(InvoiceObject.class).asVoid(newer, "e", 1));
        assertThat(invoices.row(1)).isEqualTo("e|7");
        assertThat(invoices.row(2)).isEqualTo("d|6");

        assertThatThrownBy(() -> jdbi.useExtension(InvoiceObject.class, object -> object.asVoid(older, "x", 1)))
                .isInstanceOf(FencedOutException.class);
    }

    @Test
    void joinsTheTransactionOfAFencedDataSource() throws Exception {
        Sql.execute(dataSource, FenceSchema.postgres().fenceTable());
        ResourceFence fence = ResourceFence.on(dataSource, "invoices");
        fence.raise(older);
        AtomicReference<FakeLease> current = new AtomicReference<>(older);
        Jdbi jdbi = jdbi(FencedDataSource.of(dataSource, fence, current::get));

        jdbi.useExtension(InvoiceObject.class, object -> {
            object.asVoid(older, "a", 1);
            object.allVoid(older, "b", List.of(2, 3));
        });
        assertThatThrownBy(() -> jdbi.useTransaction(handle -> {
                    InvoiceObject object = handle.attach(InvoiceObject.class);
                    assertThatThrownBy(() -> object.asVoid(newer, "x", 1))
                            .isInstanceOf(IllegalStateException.class)
                            .hasMessageContaining("one transaction, one token");
                    object.asVoid(older, "x", 1);
                    fence.raise(newer);
                }))
                .isInstanceOf(FencedOutException.class);
        current.set(null);
        assertThatThrownBy(() -> jdbi.useExtension(InvoiceObject.class, object -> object.asVoid(older, "x", 1)))
                .isInstanceOf(NoLeaseException.class);

        assertThat(invoices.row(1)).isEqualTo("a|6");
        assertThat(invoices.row(3)).isEqualTo("b|6");
    }

    @Test
    void unwrapsToTheDriver() throws SQLException {
        jdbi(dataSource).useHandle(handle -> {
            assertThat(handle.getConnection().unwrap(PGConnection.class)).isNotNull();
            assertThat(handle.getConnection().isWrapperFor(PGConnection.class)).isTrue();
            assertThat(handle.getConnection())
                    .isEqualTo(handle.getConnection())
                    .hasToString(String.valueOf(handle.getConnection()));
        });
    }
}
