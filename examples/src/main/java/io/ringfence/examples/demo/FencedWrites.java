package io.ringfence.examples.demo;

import io.ringfence.election.FencingToken;
import io.ringfence.election.Lease;
import io.ringfence.fencing.FenceSchema;
import io.ringfence.fencing.ResourceFence;
import io.ringfence.fencing.RowFence;
import java.sql.Connection;
import java.sql.SQLException;
import javax.sql.DataSource;

/** Transactions sealed by a resource fence, and rows that carry a token. */
final class FencedWrites implements Writes {
    private final Lease lease;
    private final ResourceFence fence;
    private final RowFence rows = RowFence.onColumn(FenceSchema.TOKEN_COLUMN).key("id");

    FencedWrites(DataSource dataSource, Lease lease) {
        this.lease = lease;
        this.fence = ResourceFence.on(dataSource, "invoices");
    }

    @Override
    public void takeOffice() throws SQLException, InterruptedException {
        fence.raise(lease);
    }

    @Override
    public void inTransaction(Work work) throws SQLException {
        fence.useTransaction(lease, work::run);
    }

    @Override
    public void update(Connection connection, String sql, Object... parameters) throws SQLException {
        // The bare token, as if the lease had been checked just before the process was frozen: a lease that is asked
        // now
        // would refuse by itself. What is to be seen is that the database refuses.
        FencingToken token = lease.fencingToken();
        rows.update(connection, token, sql, parameters);
    }
}
