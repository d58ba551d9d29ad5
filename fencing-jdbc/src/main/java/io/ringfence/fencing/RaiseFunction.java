package io.ringfence.fencing;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.Optional;

/** Raises by the server function. */
final class RaiseFunction implements Raising {
    private final String sql;

    /** Creates one; the schema is quoted. */
    RaiseFunction(String schema) {
        this.sql = "SELECT " + schema + "." + FenceFunctions.RAISE + "(?, ?, ?, ?)";
    }

    @Override
    public Optional<RuntimeException> raise(Connection connection, Claim claim) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            statement.setString(1, claim.resource());
            statement.setString(2, claim.election());
            statement.setLong(3, claim.token().value());
            statement.setString(4, claim.holder());
            statement.execute();
            return Optional.empty();
        } catch (SQLException e) {
            return Optional.of(
                    FenceRefusal.of(e, FenceRefusal.notRaisedTo(claim), claim).orElseThrow(() -> e));
        }
    }
}
