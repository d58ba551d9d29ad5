package io.ringfence.fencing.jooq;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.jooq.impl.DSL.field;
import static org.jooq.impl.DSL.name;
import static org.jooq.impl.DSL.table;
import static org.jooq.impl.DSL.val;

import io.ringfence.election.FencingToken;
import io.ringfence.fencing.FenceSchema;
import io.ringfence.fencing.FencedOutException;
import io.ringfence.fencing.FencedOutException.Reason;
import io.ringfence.fencing.NoMatchingRowException;
import io.ringfence.fencing.NotFenceableException;
import io.ringfence.servers.PostgresDatabase;
import io.ringfence.servers.SharedServers;
import org.jooq.DSLContext;
import org.jooq.Field;
import org.jooq.Query;
import org.jooq.Record;
import org.jooq.SQLDialect;
import org.jooq.Table;
import org.jooq.conf.ExecuteWithoutWhere;
import org.jooq.conf.RenderQuotedNames;
import org.jooq.conf.Settings;
import org.jooq.exception.DataAccessException;
import org.jooq.impl.DSL;
import org.jooq.impl.SQLDataType;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(SharedServers.class)
class JooqFenceSettingsIT {
    private static final Table<Record> INVOICE = table(name("invoice"));
    private static final Field<Integer> ID = field(name("id"), SQLDataType.INTEGER);
    private static final Field<String> STATUS = field(name("status"), SQLDataType.VARCHAR);
    private final JooqFence fence = JooqFence.onColumn("fencing_token").key("id");
    private DSLContext dsl;

    @BeforeEach
    void tables(PostgresDatabase database) {
        dsl = DSL.using(database.dataSource(), SQLDialect.POSTGRES);
        dsl.execute("CREATE TABLE invoice (id int PRIMARY KEY, status text)");
        dsl.execute(FenceSchema.postgres().tokenColumn("invoice"));
        dsl.execute("INSERT INTO invoice VALUES (1, 'open', 5), (2, 'open', 5)");
    }

    private DSLContext with(Settings settings) {
        return DSL.using(dsl.configuration().derive(settings));
    }

    @Test
    void writes_whereNamesAreNeverQuoted() {
        DSLContext unquoted = with(new Settings().withRenderQuotedNames(RenderQuotedNames.NEVER));
        Query query = unquoted.update(INVOICE).set(STATUS, "x").where(ID.eq(1));

        assertThat(fence.execute(new FencingToken(7), query)).isEqualTo(1);
        assertThatThrownBy(() -> fence.execute(new FencingToken(4), query))
                .isInstanceOfSatisfying(
                        FencedOutException.class, e -> assertThat(e.reason()).isEqualTo(Reason.SUPERSEDED));
    }

    @Test
    void findsTheKey_onEitherSide() {
        assertThatThrownBy(() -> fence.execute(
                        new FencingToken(7),
                        dsl.update(INVOICE).set(STATUS, "x").where(val(77).eq(ID))))
                .isInstanceOf(NoMatchingRowException.class)
                .hasMessageContaining("(id = 77)");
    }

    @Test
    void leavesJooqsGuardAgainstAMissingWhereInPlace() {
        DSLContext guarded = with(new Settings()
                .withExecuteUpdateWithoutWhere(ExecuteWithoutWhere.THROW)
                .withExecuteDeleteWithoutWhere(ExecuteWithoutWhere.THROW));
        Query all = guarded.update(INVOICE).set(STATUS, "x");

        assertThatThrownBy(all::execute).isInstanceOf(DataAccessException.class);
        assertThatThrownBy(() -> fence.execute(new FencingToken(7), all)).isInstanceOf(NotFenceableException.class);
        assertThatThrownBy(() -> fence.execute(new FencingToken(7), guarded.deleteFrom(INVOICE)))
                .isInstanceOf(NotFenceableException.class);
        assertThat(dsl.fetchCount(INVOICE, STATUS.eq("open"))).isEqualTo(2);
    }
}
