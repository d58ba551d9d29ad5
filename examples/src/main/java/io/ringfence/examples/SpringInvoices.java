package io.ringfence.examples;

import java.util.List;
import java.util.OptionalLong;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.annotation.Transactional;

/** A Spring service on the tables of {@link InvoiceBatches}. It knows nothing of leases. Thread-safe. */
class SpringInvoices {
    private final JdbcTemplate jdbc;

    SpringInvoices(JdbcTemplate jdbc) {
        this.jdbc = jdbc;
    }

    /** Closes one batch and pays it out; empty if there was none. */
    @Transactional
    public OptionalLong closeNext() {
        List<Long> open =
                jdbc.queryForList("SELECT id FROM invoice_batch WHERE status = 'open' ORDER BY id LIMIT 1", Long.class);
        if (open.isEmpty()) {
            return OptionalLong.empty();
        }
        long id = open.get(0);
        jdbc.update(
                "UPDATE invoice_batch SET status = 'closed', total ="
                        + " (SELECT coalesce(sum(amount), 0) FROM invoice WHERE batch_id = invoice_batch.id) WHERE id = ?",
                id);
        jdbc.update("INSERT INTO payout SELECT id, total FROM invoice_batch WHERE id = ?", id);
        return OptionalLong.of(id);
    }
}
