package io.ringfence.fencing;

import io.ringfence.fencing.FencedOutException.Reason;
import java.sql.SQLException;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Words what a fence row says against a claim, whether we read the row or a server function did. */
final class FenceRefusal {
    /** As {@link FenceFunctions} begins its messages; drivers put a word like ERROR before it. */
    private static final Pattern FOUND = Pattern.compile(
            "fence at token (\\d{1,19}), election \"((?:[^\"]++|\"\")*+)\", holder \"((?:[^\"]++|\"\")*+)\"");

    /** As a guard of COMMIT names the resource of its table. */
    private static final Pattern GUARDED = Pattern.compile("resource \"(.*)\", to which ", Pattern.DOTALL);

    private FenceRefusal() {}

    /** Returns what a server function means by an error; empty if the error is of another kind. */
    static Optional<RuntimeException> of(SQLException failure, String what, Claim presented) {
        Matcher guarded = GUARDED.matcher(String.valueOf(failure.getMessage()));
        Claim claim = guarded.find() ? presented.on(guarded.group(1)) : presented;
        String state = String.valueOf(failure.getSQLState());
        FenceRow row = row(failure);
        return switch (state) {
            case FenceFunctions.STALE ->
                Optional.of(row == null ? unknown(failure, what, claim) : superseded(what, claim, row));
            case FenceFunctions.NOT_RAISED -> Optional.of(notRaised(what, claim, row));
            case FenceFunctions.OTHER_ELECTION ->
                Optional.of(row == null ? unknown(failure, what, claim) : otherElection(claim, row));
            default -> Optional.empty();
        };
    }

    /** Returns what a commit was refused for; the message tells which of several fences did it. */
    static Optional<RuntimeException> ofCommit(SQLException failure, List<Claim> claims) {
        String message = String.valueOf(failure.getMessage());
        Claim refused = claims.stream()
                .filter(claim -> message.contains("resource \"" + claim.resource() + "\""))
                .max(Comparator.comparingInt(claim -> claim.resource().length()))
                .orElse(claims.get(0));
        return of(failure, rolledBack(refused), refused);
    }

    private static @Nullable FenceRow row(SQLException failure) {
        Matcher found = FOUND.matcher(String.valueOf(failure.getMessage()));
        return found.find()
                ? new FenceRow(unquoted(found.group(2)), Long.parseLong(found.group(1)), unquoted(found.group(3)))
                : null;
    }

    private static String unquoted(String text) {
        return text.replace("\"\"", "\"");
    }

    static FencedOutException superseded(String what, Claim claim, FenceRow row) {
        return new FencedOutException(
                what + ": " + claim.target() + " is fenced at the higher token " + row.token() + " by " + row.holder()
                        + ". Another process leads: stop this term's work; do not retry with this token",
                claim.target(),
                null,
                claim.token(),
                row.token(),
                Reason.SUPERSEDED);
    }

    static FencedOutException notRaised(String what, Claim claim, @Nullable FenceRow row) {
        String state = row == null ? "has no fence yet" : "is fenced at the lower token " + row.token();
        return new FencedOutException(
                what + ": " + claim.target() + " " + state + ". Call raise(lease) once per term, before any work",
                claim.target(),
                null,
                claim.token(),
                row == null ? null : row.token(),
                Reason.NOT_RAISED);
    }

    static FencingException otherElection(Claim claim, FenceRow row) {
        return new FencingException(
                "Resource '" + claim.resource() + "' is fenced by election '" + row.election() + "' (token "
                        + row.token() + "), and this lease is of election '" + claim.election() + "' (token "
                        + claim.token()
                        + "). Tokens of two elections have no order: use one election, or another resource name",
                null);
    }

    private static FencedOutException unknown(SQLException failure, String what, Claim claim) {
        FencedOutException refusal = new FencedOutException(
                what + ": the database refused it with SQLSTATE " + failure.getSQLState() + ": " + failure.getMessage(),
                claim.target(),
                null,
                claim.token(),
                null,
                Reason.UNKNOWN);
        refusal.addSuppressed(failure);
        return refusal;
    }

    /** Says what a refused commit comes to. */
    static String rolledBack(Claim claim) {
        return "The transaction with token " + claim.token() + " was rolled back";
    }

    /** Says what a refused raise comes to. */
    static String notRaisedTo(Claim claim) {
        return "The fence was not raised to token " + claim.token();
    }
}
