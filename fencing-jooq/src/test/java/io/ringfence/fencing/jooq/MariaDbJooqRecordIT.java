package io.ringfence.fencing.jooq;

import static io.ringfence.fencing.jooq.generated.Tables.INVOICE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ringfence.fencing.NotFenceableException;
import io.ringfence.fencing.jooq.generated.tables.records.InvoiceRecord;
import io.ringfence.servers.MariaDbDatabase;
import io.ringfence.servers.SharedServers;
import org.jooq.SQLDialect;
import org.jooq.conf.Settings;
import org.jooq.impl.DSL;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Records on MariaDB. */
@ExtendWith(SharedServers.class)
class MariaDbJooqRecordIT extends JooqRecordContract {

    MariaDbJooqRecordIT(MariaDbDatabase empty) {
        super(empty.dataSource(), SQLDialect.MARIADB, "fencing_token");
    }

    @Test
    void refusesToReturnAllOfAnUpdatedRecord() {
        InvoiceRecord record = DSL.using(
                        dsl.configuration().derive(new Settings().withReturnAllOnUpdatableRecord(true)))
                .fetchSingle(INVOICE, INVOICE.ID.eq(1));
        record.setStatus("x");

        assertThatThrownBy(() -> fence.store(token(7), record)).isInstanceOf(NotFenceableException.class);
        assertThat(invoice(1)).isEqualTo("open|5");
    }
}
