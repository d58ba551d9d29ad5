package io.ringfence.fencing.jooq;

import static io.ringfence.fencing.jooq.generated.Tables.INVOICE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ringfence.fencing.ExpectedRows;
import io.ringfence.fencing.FencedOutException.Reason;
import io.ringfence.fencing.IndeterminateCountException;
import io.ringfence.fencing.NotFenceableException;
import io.ringfence.servers.MariaDbDatabase;
import io.ringfence.servers.SharedServers;
import java.util.List;
import org.jooq.DSLContext;
import org.jooq.Query;
import org.jooq.SQLDialect;
import org.jooq.impl.DSL;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Queries on MariaDB. */
@ExtendWith(SharedServers.class)
class MariaDbJooqFenceIT extends JooqFenceContract {

    MariaDbJooqFenceIT(MariaDbDatabase empty) {
        super(empty.dataSource(), SQLDialect.MARIADB, "`fencing_token`");
    }

    private Query upsert(DSLContext in, int id, String status) {
        return in.insertInto(INVOICE, INVOICE.ID, INVOICE.STATUS)
                .values(id, status)
                .onDuplicateKeyUpdate()
                .set(INVOICE.STATUS, status);
    }

    @Test
    void takesRowsOver_onDuplicateKey_andCountsWhatItReadsBack() {
        assertThat(refused(4, upsert(dsl, 1, "stale")).reason()).isEqualTo(Reason.SUPERSEDED);
        assertThat(fence.execute(token(7), upsert(dsl, 1, "over"))).isEqualTo(1);
        assertThat(fence.execute(token(7), upsert(dsl, 1, "over")))
                .as("the same again")
                .isEqualTo(1);
        assertThat(fence.execute(token(7), upsert(dsl, 9, "new"))).isEqualTo(1);
        Query two = dsl.insertInto(INVOICE, INVOICE.ID, INVOICE.STATUS)
                .values(2, "two")
                .values(10, "two")
                .onDuplicateKeyUpdate()
                .set(INVOICE.STATUS, "two");
        assertThat(fence.expecting(ExpectedRows.exactly(2)).execute(token(7), two))
                .isEqualTo(2);

        assertThat(invoices()).containsExactly("1|over|7", "2|two|7", "3|open|0", "9|new|7", "10|two|7");
    }

    @Test
    void anUpsertThatMeetsARowByAnotherKey_isIndeterminate_whetherItWroteItOrNot() {
        dsl.execute("UPDATE invoice SET status = CONCAT('s', id)");
        dsl.execute("CREATE UNIQUE INDEX one_status ON invoice (status)");
        for (JooqFence by : List.of(fence, fence.expecting(ExpectedRows.any()))) {
            assertThatThrownBy(() -> dsl.transaction(inner -> by.execute(token(4), upsert(inner.dsl(), 9, "s1"))))
                    .as("refused by a newer row")
                    .isInstanceOf(IndeterminateCountException.class);
            assertThatThrownBy(() -> dsl.transaction(inner -> by.execute(token(7), upsert(inner.dsl(), 9, "s1"))))
                    .as("written to another row")
                    .isInstanceOf(IndeterminateCountException.class)
                    .hasMessageContaining("another unique key");
        }

        assertThat(invoices()).containsExactly("1|s1|5", "2|s2|5", "3|s3|0");
    }

    @Test
    void countsUpsertsInABatch() {
        dsl.transaction(configuration -> assertThat(
                        fence.batch(token(7), upsert(configuration.dsl(), 1, "a"), upsert(configuration.dsl(), 9, "b")))
                .containsExactly(1, 1));

        assertThat(invoices()).containsExactly("1|a|7", "2|open|5", "3|open|0", "9|b|7");
    }

    @Test
    void refusesAnUpsertWhoseCountNobodyCanTell() {
        Query guarded = dsl.insertInto(INVOICE, INVOICE.ID, INVOICE.STATUS)
                .values(1, "x")
                .onDuplicateKeyUpdate()
                .set(INVOICE.STATUS, "x")
                .where(INVOICE.STATUS.eq("open"));
        Query computed = dsl.insertInto(INVOICE, INVOICE.ID, INVOICE.STATUS)
                .values(DSL.field("1", Integer.class), DSL.val("x"))
                .onDuplicateKeyUpdate()
                .set(INVOICE.STATUS, "x");
        Query ignoring = dsl.insertInto(INVOICE, INVOICE.ID).values(1).onDuplicateKeyIgnore();

        for (Query query : new Query[] {guarded, computed, ignoring}) {
            assertThatThrownBy(() -> fence.execute(token(9), query)).isInstanceOf(NotFenceableException.class);
        }
        assertThat(invoice(1)).isEqualTo("open|5");
    }

    @Test
    void refusesToReturnUpdatedRows() {
        var update = dsl.update(INVOICE)
                .set(INVOICE.STATUS, "x")
                .where(INVOICE.ID.eq(1))
                .returning();

        assertThatThrownBy(() -> fence.fetch(token(9), update))
                .isInstanceOf(NotFenceableException.class)
                .hasMessageContaining("does not return what it updates");
        assertThat(invoice(1)).isEqualTo("open|5");
    }
}
