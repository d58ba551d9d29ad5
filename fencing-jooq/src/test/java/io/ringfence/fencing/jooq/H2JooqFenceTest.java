package io.ringfence.fencing.jooq;

import static io.ringfence.fencing.jooq.generated.Tables.INVOICE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ringfence.fencing.NotFenceableException;
import org.jooq.SQLDialect;
import org.junit.jupiter.api.Test;

/** Queries on H2. */
class H2JooqFenceTest extends JooqFenceContract {

    H2JooqFenceTest() {
        super(h2(), SQLDialect.H2);
    }

    @Test
    void refusesToTakeRowsOver() {
        var upsert = dsl.insertInto(INVOICE, INVOICE.ID, INVOICE.STATUS)
                .values(1, "x")
                .onConflict(INVOICE.ID)
                .doUpdate()
                .set(INVOICE.STATUS, "x");
        var ignoring = dsl.insertInto(INVOICE, INVOICE.ID, INVOICE.STATUS)
                .values(1, "x")
                .onConflictDoNothing();

        assertThatThrownBy(() -> fence.execute(token(9), upsert))
                .isInstanceOf(NotFenceableException.class)
                .hasMessageContaining("NoMatchingRowException");
        assertThatThrownBy(() -> fence.execute(token(9), ignoring)).isInstanceOf(NotFenceableException.class);
        assertThat(invoice(1)).isEqualTo("open|5");
    }

    @Test
    void returnsUpdatedRows() {
        var update = dsl.update(INVOICE)
                .set(INVOICE.STATUS, "x")
                .where(INVOICE.ID.eq(1))
                .returningResult(INVOICE.STATUS, INVOICE.FENCING_TOKEN);

        assertThat(fence.fetch(token(7), update).get(0).intoList()).containsExactly("x", 7L);
    }
}
