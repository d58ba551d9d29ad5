package io.ringfence.fencing.corpus;

import io.ringfence.fencing.NotFenceableException;
import java.sql.SQLException;
import java.util.List;
import java.util.Locale;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** Runs a statement with and without its fence, and compares what they do to the rows. */
final class FenceCheck {
    private static final List<String> LOCKS = List.of("update", "no", "share", "key");

    private final StatementCompiler compiler;
    private final CorpusTables tables;
    private final Outcome stale;
    private final Outcome between;

    FenceCheck(StatementCompiler compiler, CorpusTables tables) throws SQLException {
        this.compiler = compiler;
        this.tables = tables;
        this.stale = tables.look(CorpusTables.STALE);
        this.between = tables.look(CorpusTables.BETWEEN);
    }

    enum Verdict {
        /** The compiler does not take it. */
        REFUSED,
        /** The server does not take it. */
        REJECTED,
        /** Ran and wrote nothing. */
        RAN,
        /** Ran and wrote new rows only. */
        ADDED,
        /** Ran and changed or deleted rows that are there. */
        CHANGED
    }

    /**
     * Checks one statement.
     *
     * @param lower whether to try the lower of the two tokens that are too low
     * @throws FenceViolation if the fence lets through what it must not, or changes what the statement does
     */
    Verdict check(List<Piece> pieces, boolean lower) throws SQLException {
        FencedSql fenced;
        try {
            fenced = compiler.compile(Piece.sql(pieces));
        } catch (NotFenceableException e) {
            return Verdict.REFUSED;
        } catch (RuntimeException | StackOverflowError e) {
            throw new FenceViolation(FenceViolation.NOT_COMPILED, ": " + e);
        }
        List<String> parameters = Piece.parameters(pieces);
        Outcome plain = tables.runPlain(Piece.plain(pieces, CorpusTables.FRESH), parameters, CorpusTables.FRESH);
        if (hidesMarkers(pieces, fenced)) {
            refusesStaleTokens(fenced, parameters, lower);
            return Verdict.REJECTED;
        }
        if (!plain.ran()) {
            require(writesNothing(fenced, parameters), FenceViolation.ONLY_PLAIN_REJECTED, fenced);
            return Verdict.REJECTED;
        }
        List<Integer> callers =
                fenced.binds().stream().filter(bind -> bind != FencedSql.TOKEN).toList();
        require(
                callers.equals(IntStream.range(0, plain.parameters()).boxed().toList()),
                FenceViolation.MISPLACED,
                callers + " of " + plain.parameters(),
                fenced);
        refusesStaleTokens(fenced, parameters, lower);
        Outcome fresh = tables.run(fenced, parameters, CorpusTables.FRESH, true);
        if (fresh.timedOut()) {
            return Verdict.REJECTED;
        }
        require(fresh.ran(), FenceViolation.ONLY_FENCED_REJECTED, fresh.rejection(), fenced);
        require(fresh.foreignTokens() == 0, FenceViolation.NO_TOKEN, fenced);
        if (!takesRowsByPlan(pieces)) {
            boolean same = fresh.written() == plain.written() && fresh.old() == plain.old();
            require(
                    same && (isJoined(pieces) || fresh.contents().equals(plain.contents())),
                    FenceViolation.OTHER_ROWS,
                    fenced);
        }
        if (plain.old() < stale.old()) {
            return Verdict.CHANGED;
        }
        return plain.written() > 0 ? Verdict.ADDED : Verdict.RAN;
    }

    /** Tells whether a marker got into a string or comment, so that it is not known what there would be without a fence. */
    private static boolean hidesMarkers(List<Piece> pieces, FencedSql fenced) {
        return pieces.stream().anyMatch(piece -> piece.is(Piece.Kind.MARKER))
                && fenced.sql().toLowerCase(Locale.ROOT).contains("fence.");
    }

    /** Tells whether a row may be joined to several: the server then takes the values of any of them. */
    private static boolean isJoined(List<Piece> pieces) {
        int depth = 0;
        boolean set = false;
        for (Piece piece : pieces) {
            depth += piece.isSymbol("(") ? 1 : piece.isSymbol(")") ? -1 : 0;
            set |= piece.isWord("set");
            if (set && depth == 0 && piece.isWord("from")) {
                return true;
            }
        }
        return false;
    }

    /**
     * Tells whether a sub-select takes the first rows that it can lock. PostgreSQL may run it again for each row of the
     * table, and then passes over those that the statement has written already: how many it writes depends on the plan,
     * and so on when the table was last analyzed.
     */
    private static boolean takesRowsByPlan(List<Piece> pieces) {
        boolean locks = false;
        boolean limits = false;
        @Nullable Piece last = null;
        for (Piece piece : pieces) {
            if (piece.is(Piece.Kind.WORD)) {
                limits |= piece.isWord("limit") || piece.isWord("fetch");
                locks |= last != null && last.isWord("for") && LOCKS.stream().anyMatch(piece::isWord);
                last = piece;
            }
        }
        return locks && limits;
    }

    private boolean writesNothing(FencedSql fenced, List<String> parameters) throws SQLException {
        Outcome outcome = tables.run(fenced, parameters, CorpusTables.FRESH, false);
        return !outcome.ran() || (outcome.old() == stale.old() && outcome.written() == 0);
    }

    private void refusesStaleTokens(FencedSql fenced, List<String> parameters, boolean lower) throws SQLException {
        Outcome before = lower ? stale : between;
        Outcome after = tables.run(fenced, parameters, lower ? CorpusTables.STALE : CorpusTables.BETWEEN, false);
        if (after.ran()) {
            require(after.kept() == before.kept(), FenceViolation.HIGHER_TOKEN, fenced);
            require(after.foreignTokens() == 0, FenceViolation.NO_TOKEN, fenced);
        }
    }

    private static void require(boolean holds, String rule, FencedSql fenced) {
        require(holds, rule, "", fenced);
    }

    private static void require(boolean holds, String rule, @Nullable String details, FencedSql fenced) {
        if (!holds) {
            throw new FenceViolation(rule, " " + details + "\nfenced " + fenced.binds() + ": " + fenced.sql());
        }
    }
}
