package io.ringfence.fencing.frameworks;

import java.sql.Connection;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Supplier;
import javax.sql.DataSource;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DataSourceUtils;

/** A repository on Spring's template. */
record SpringInvoices(DataSource dataSource, Supplier<SpringTransactional> transactional) implements Invoices {
    private static final String UPDATE = "UPDATE invoice SET status = ? WHERE id = ?";

    private JdbcTemplate template() {
        return new JdbcTemplate(dataSource);
    }

    @Override
    public String status(int id) {
        return template().queryForObject("SELECT status FROM invoice WHERE id = ?", String.class, id);
    }

    @Override
    public void insert(int id, String status, Integer cancels) {
        template().update("INSERT INTO invoice (id, status, cancels) VALUES (?, ?, ?)", id, status, cancels);
    }

    @Override
    public void update(int id, String status) {
        template().update(UPDATE, status, id);
    }

    @Override
    public void updateAll(List<Integer> ids, String status) {
        template()
                .batchUpdate(
                        UPDATE,
                        ids.stream().map(id -> new Object[] {status, id}).toList());
    }

    @Override
    public void nested(Consumer<Invoices> work) {
        transactional.get().inNested(work);
    }

    @Override
    public Connection connection() {
        return DataSourceUtils.getConnection(dataSource);
    }
}
