package io.ringfence.fencing.jooq;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.jooq.impl.DSL.field;
import static org.jooq.impl.DSL.name;
import static org.jooq.impl.DSL.table;

import io.ringfence.election.FencingToken;
import io.ringfence.fencing.FenceSchema;
import io.ringfence.fencing.FencedOutException;
import io.ringfence.fencing.FencedOutException.Reason;
import io.ringfence.fencing.NoMatchingRowException;
import io.ringfence.servers.PostgresDatabase;
import io.ringfence.servers.SharedServers;
import java.sql.Connection;
import java.sql.SQLException;
import javax.sql.DataSource;
import org.jooq.DSLContext;
import org.jooq.Field;
import org.jooq.Record;
import org.jooq.SQLDialect;
import org.jooq.Table;
import org.jooq.exception.DataAccessException;
import org.jooq.impl.DSL;
import org.jooq.impl.SQLDataType;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Queries of jOOQ on tables with guards, which are told the token before the query. */
@ExtendWith(SharedServers.class)
class JooqGuardIT {
    private static final Table<Record> INVOICE = table(name("invoice"));
    private static final Field<Integer> ID = field(name("id"), SQLDataType.INTEGER);
    private static final Field<String> STATUS = field(name("status"), SQLDataType.VARCHAR);

    private final JooqFence fence = JooqFence.onColumn("fencing_token").key("id");
    private final DataSource dataSource;
    private final Connection connection;
    private final DSLContext dsl;

    JooqGuardIT(PostgresDatabase empty) throws SQLException {
        dataSource = empty.dataSource();
        connection = dataSource.getConnection();
        dsl = DSL.using(connection, SQLDialect.POSTGRES);
    }

    @BeforeEach
    void tables() {
        FenceSchema schema = FenceSchema.postgres();
        dsl.execute("CREATE TABLE invoice (id int PRIMARY KEY, status text CHECK (status <> 'bad'))");
        dsl.execute(schema.tokenColumn("invoice"));
        dsl.execute("INSERT INTO invoice VALUES (1, 'open', 5), (2, 'open', 5)");
        dsl.execute(schema.rowGuard("invoice"));
    }

    @AfterEach
    void close() throws SQLException {
        connection.close();
    }

    private int set(long token, int id, String status) {
        return fence.execute(
                new FencingToken(token), dsl.update(INVOICE).set(STATUS, status).where(ID.eq(id)));
    }

    private String first() {
        return DSL.using(dataSource, SQLDialect.POSTGRES)
                .fetchSingle("SELECT status || fencing_token FROM invoice WHERE id = 1")
                .into(String.class);
    }

    @Test
    void writesInAutoCommit_andLeavesItOn() throws SQLException {
        assertThat(set(7, 1, "a")).isEqualTo(1);
        assertThat(set(7, 1, "b")).isEqualTo(1);
        assertThat(first()).isEqualTo("b7");
        assertThat(fence.execute(new FencingToken(7), dsl.deleteFrom(INVOICE).where(ID.eq(2))))
                .isEqualTo(1);

        assertThat(connection.getAutoCommit()).isTrue();
        assertThatThrownBy(() -> dsl.execute("UPDATE invoice SET status = 'x'"))
                .isInstanceOf(DataAccessException.class)
                .hasMessageContaining("comes without a fencing token");
    }

    @Test
    void refusesInAutoCommit_andLeavesItOn() throws SQLException {
        assertThatThrownBy(() -> set(4, 1, "x"))
                .isInstanceOfSatisfying(
                        FencedOutException.class, e -> assertThat(e.reason()).isEqualTo(Reason.SUPERSEDED));
        assertThatThrownBy(() -> set(7, 9, "x")).isInstanceOf(NoMatchingRowException.class);
        assertThatThrownBy(() -> set(7, 1, "bad"))
                .isInstanceOf(DataAccessException.class)
                .hasMessageContaining("check constraint");

        assertThat(connection.getAutoCommit()).isTrue();
        assertThat(set(7, 1, "good")).isEqualTo(1);
        assertThat(first()).isEqualTo("good7");
    }

    @Test
    void leavesTheCallersTransactionOpen() throws SQLException {
        connection.setAutoCommit(false);

        set(7, 1, "a");
        set(7, 1, "b");

        assertThat(connection.getAutoCommit()).isFalse();
        assertThat(first()).isEqualTo("open5");
        connection.rollback();
        assertThat(first()).isEqualTo("open5");
    }

    @Test
    void aGuardThatIsNew_costsOneRefusal() {
        dsl.execute(FenceSchema.postgres().dropGuards("invoice"));
        set(7, 1, "a");
        dsl.execute(FenceSchema.postgres().rowGuard("invoice"));

        assertThatThrownBy(() -> set(7, 1, "b")).isInstanceOf(DataAccessException.class);
        assertThat(set(7, 1, "b")).isEqualTo(1);
    }
}
