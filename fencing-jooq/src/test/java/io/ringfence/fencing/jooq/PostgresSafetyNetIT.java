package io.ringfence.fencing.jooq;

import static io.ringfence.fencing.jooq.generated.Tables.INVOICE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ringfence.fencing.UnfencedWriteException;
import io.ringfence.servers.PostgresDatabase;
import io.ringfence.servers.SharedServers;
import org.jooq.DSLContext;
import org.jooq.SQLDialect;
import org.jooq.impl.DSL;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** The net on PostgreSQL. */
@ExtendWith(SharedServers.class)
class PostgresSafetyNetIT extends SafetyNetContract {

    PostgresSafetyNetIT(PostgresDatabase empty) {
        super(empty.dataSource(), SQLDialect.POSTGRES, "fencing_token");
    }

    @Test
    void seesAWriteInAWith_andBehindATableOfAnotherName() {
        DSLContext netted = DSL.using(dsl.configuration().derive(fence.safetyNet("public.invoice")));

        assertThatThrownBy(
                        () -> netted.fetch("with gone as (delete from public.invoice returning id) select * from gone"))
                .isInstanceOf(UnfencedWriteException.class);
        assertThatThrownBy(() -> netted.with(
                                DSL.name("gone").as(netted.deleteFrom(INVOICE).returning(INVOICE.ID)))
                        .selectOne()
                        .fetch())
                .isInstanceOf(UnfencedWriteException.class);
        dsl.execute("CREATE FUNCTION gone() RETURNS bigint LANGUAGE sql AS 'DELETE FROM invoice; SELECT 1'");
        netted.fetch("select gone()");
        assertThat(dsl.fetchCount(INVOICE)).as("what it does not see").isZero();
    }
}
