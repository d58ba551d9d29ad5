package io.ringfence.fencing;

import io.ringfence.election.FencingToken;
import java.sql.SQLException;
import java.util.List;
import java.util.Objects;
import java.util.stream.Collectors;

/**
 * The connection was lost while COMMIT was under way: the transaction may be committed or not, and only a look at the
 * data can tell.
 *
 * <p>If it is committed, it was sealed: no newer leader had raised the fence before it. Work that is not idempotent must
 * look before it tries again.
 */
public final class CommitOutcomeUnknownException extends FencingException {
    private static final long serialVersionUID = 1L;

    /** The name of the resource. */
    private final String resource;

    /** The token of the transaction. */
    private final long token;

    /**
     * Creates an exception.
     *
     * @param resource the name of the resource fence
     * @param token the token of the transaction
     * @param cause what the driver said
     */
    public CommitOutcomeUnknownException(String resource, FencingToken token, SQLException cause) {
        super(
                "The connection was lost during COMMIT of a transaction on resource '" + resource + "' with token "
                        + token + ": it may be committed or not. Read the data to find out before trying again",
                cause);
        this.resource = Objects.requireNonNull(resource, "resource");
        this.token = token.value();
    }

    static CommitOutcomeUnknownException of(List<Claim> claims, SQLException cause) {
        String resources = claims.stream().map(Claim::resource).collect(Collectors.joining(", "));
        return new CommitOutcomeUnknownException(resources, claims.get(0).token(), cause);
    }

    /** {@return the name of the resource; of several, separated by commas} */
    public String resource() {
        return resource;
    }

    /** {@return the token of the transaction} */
    public FencingToken token() {
        return new FencingToken(token);
    }
}
