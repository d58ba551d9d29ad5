package io.ringfence.fencing;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The fence table, worked with by statements of our own; the role needs rights on it. */
final class FenceTable implements Seal, Raising {
    /** SQLSTATE of a missing right. */
    private static final String DENIED = "42501";

    private final String schema;
    private final String name;

    /** Creates one; the schema is quoted. */
    FenceTable(String schema) {
        this.schema = schema;
        this.name = schema + "." + FenceSchema.FENCE_TABLE;
    }

    @Override
    public SealMode mode() {
        return SealMode.TABLE;
    }

    @Override
    public Verdict seal(Connection connection, List<Claim> claims) throws SQLException {
        for (Claim claim : claims) {
            RuntimeException refusal = refusal(connection, claim);
            if (refusal != null) {
                return Verdict.refused(refusal);
            }
        }
        return Verdict.SEALED;
    }

    private @Nullable RuntimeException refusal(Connection connection, Claim claim) throws SQLException {
        FenceRow row;
        try {
            row = read(connection, claim.resource(), !(connection.isReadOnly() && cannotWrite(connection)));
        } catch (SQLException e) {
            throw denied(e, connection, "seal");
        }
        String what = FenceRefusal.rolledBack(claim);
        if (row == null) {
            return FenceRefusal.notRaised(what, claim, null);
        }
        if (claim.isOfAnotherElection(row)) {
            return FenceRefusal.otherElection(claim, row);
        }
        if (row.token() == claim.token().value()) {
            return null;
        }
        return row.token() > claim.token().value()
                ? FenceRefusal.superseded(what, claim, row)
                : FenceRefusal.notRaised(what, claim, row);
    }

    /**
     * Tells whether nothing was written and nothing can be. The server is asked: a connection can be called read-only and
     * write all the same.
     */
    private static boolean cannotWrite(Connection connection) throws SQLException {
        try (PreparedStatement statement =
                        connection.prepareStatement("SELECT pg_catalog.current_setting('transaction_read_only') = 'on'"
                                + " AND pg_catalog.pg_current_xact_id_if_assigned() IS NULL");
                ResultSet answer = statement.executeQuery()) {
            return answer.next() && answer.getBoolean(1);
        }
    }

    private @Nullable FenceRow read(Connection connection, String resource, boolean lock) throws SQLException {
        String sql = "SELECT election, token, holder FROM " + name + " WHERE resource = ?" + (lock ? " FOR SHARE" : "");
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            statement.setString(1, resource);
            try (ResultSet row = statement.executeQuery()) {
                return row.next() ? new FenceRow(row.getString(1), row.getLong(2), row.getString(3)) : null;
            }
        }
    }

    @Override
    public Optional<RuntimeException> raise(Connection connection, Claim claim) throws SQLException {
        FenceRow row;
        try {
            if (write(connection, claim)) {
                return Optional.empty();
            }
            row = read(connection, claim.resource(), false);
        } catch (SQLException e) {
            throw denied(e, connection, "raise");
        }
        if (row == null) {
            return Optional.of(new FencingException(
                    "The fence row of " + claim.target() + " vanished while it was raised: something removes rows of "
                            + FenceSchema.FENCE_TABLE + ", which makes the fence worthless",
                    null));
        }
        return Optional.of(
                claim.isOfAnotherElection(row)
                        ? FenceRefusal.otherElection(claim, row)
                        : FenceRefusal.superseded(FenceRefusal.notRaisedTo(claim), claim, row));
    }

    /** Writes a fence row if that does not lower its token and the election is the same; tells whether it did. */
    private boolean write(Connection connection, Claim claim) throws SQLException {
        String sql = "INSERT INTO " + name + " AS fence (resource, election, token, holder, raised_at)"
                + " VALUES (?, ?, ?, ?, clock_timestamp()) ON CONFLICT (resource) DO UPDATE"
                + " SET token = excluded.token, holder = excluded.holder, raised_at = excluded.raised_at"
                + " WHERE fence.token <= excluded.token AND fence.election = excluded.election";
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            statement.setString(1, claim.resource());
            statement.setString(2, claim.election());
            statement.setLong(3, claim.token().value());
            statement.setString(4, claim.holder());
            return statement.executeUpdate() == 1;
        }
    }

    /** Names what to grant, if that is what is missing; else throws the failure as it is. */
    private RuntimeException denied(SQLException failure, Connection connection, String what) throws SQLException {
        if (!DENIED.equals(failure.getSQLState())) {
            throw failure;
        }
        String role = FenceLocation.quoted(connection.getMetaData().getUserName());
        FenceSchema ddl = FenceSchema.postgres().inSchema(schema);
        FenceSchemaException missing = new FenceSchemaException(
                "Role " + role + " may not " + what + " fences in schema " + schema,
                ddl.fenceFunctions() + (what.equals("seal") ? ddl.grantSeal(role) : ddl.grantRaise(role)));
        missing.addSuppressed(failure);
        return missing;
    }
}
