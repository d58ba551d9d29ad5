package io.ringfence.fencing;

import io.ringfence.fencing.internal.TokenSetting;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;

/** A seal in a database with guards: they are told the token before the work begins. */
record GuardedSeal(Seal seal) implements Seal {

    @Override
    public void begin(Connection connection, Claim claim) throws SQLException {
        TokenSetting.tell(connection, claim.token().value());
    }

    @Override
    public SealMode mode() {
        return seal.mode();
    }

    @Override
    public Verdict seal(Connection connection, List<Claim> claims) throws SQLException {
        return seal.seal(connection, claims);
    }
}
