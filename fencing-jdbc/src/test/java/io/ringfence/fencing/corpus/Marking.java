package io.ringfence.fencing.corpus;

import io.ringfence.fencing.corpus.Piece.Kind;
import java.util.List;
import java.util.Locale;
import java.util.random.RandomGenerator;

/** Puts markers into a statement, or changes those that are there, rightly and wrongly. */
final class Marking {
    private static final List<String> MARKERS = List.of(
            "{fence.set}",
            "{fence.where}",
            "{fence.column}",
            "{fence.token}",
            "{FENCE.WHERE}",
            "{ fence.where }",
            "{fence.wher}");

    private final List<Piece> pieces;
    private final RandomGenerator random;

    private Marking(List<Piece> pieces, RandomGenerator random) {
        this.pieces = pieces;
        this.random = random;
    }

    static Marking of(List<Piece> pieces, RandomGenerator random) {
        return new Marking(pieces, random);
    }

    void change() {
        boolean marked = pieces.stream().anyMatch(piece -> piece.is(Kind.MARKER));
        int choice = random.nextInt(5);
        if (choice == 0) {
            pieces.add(random.nextInt(pieces.size() + 1), marker());
        } else if (choice == 1 && marked) {
            List<Piece> markers =
                    pieces.stream().filter(piece -> piece.is(Kind.MARKER)).toList();
            pieces.set(pieces.indexOf(markers.get(random.nextInt(markers.size()))), marker());
        } else if (choice == 2 && marked) {
            unmark();
        } else {
            mark();
        }
    }

    /** Takes the markers out, so that no fence is left but what the statement gets as it stands. */
    private void unmark() {
        for (int i = pieces.size() - 1; i >= 0; i--) {
            String text = pieces.get(i).text();
            if (pieces.get(i).is(Kind.MARKER) && text.contains("fence.where")) {
                pieces.set(i, new Piece(Kind.WORD, "TRUE"));
            } else if (pieces.get(i).is(Kind.MARKER)) {
                pieces.subList(Math.max(0, i - 2), i + 1).clear();
                i = Math.min(i, pieces.size());
            }
        }
    }

    private Piece marker() {
        String text = MARKERS.get(random.nextInt(MARKERS.size()));
        return new Piece(Kind.MARKER, random.nextInt(3) > 0 ? text : where());
    }

    /** Returns a condition about something that the statement names, more often a table than not. */
    private String where() {
        List<String> names = pieces.stream()
                .filter(piece -> piece.is(Kind.WORD) || piece.is(Kind.NAME))
                .map(Piece::text)
                .toList();
        List<String> tables = names.stream()
                .filter(name -> name.length() <= 2 || name.equals("line") || name.equals("invoice"))
                .toList();
        List<String> chosen = tables.isEmpty() || random.nextInt(4) == 0 ? names : tables;
        return chosen.isEmpty() ? "{fence.where}" : where(chosen.get(random.nextInt(chosen.size())));
    }

    private static String where(String table) {
        return "{fence.where " + table + "}";
    }

    /** Adds what a plain UPDATE or DELETE needs to be marked, and maybe a second table. */
    private void mark() {
        int where = last("where");
        int from = last("from");
        boolean update = last("set") >= 0;
        boolean second = random.nextInt(3) == 0;
        String other = random.nextBoolean() ? "line l9" : "invoice i9";
        String condition = second || random.nextInt(4) == 0 ? where(target()) : "{fence.where}";
        if (second && random.nextInt(5) == 0) {
            condition = where(other.substring(other.length() - 2));
        }
        if (where < 0) {
            add(pieces.size(), " WHERE " + condition);
            where = pieces.size() - 4;
        } else {
            add(where + 1, " " + condition + (random.nextInt(6) == 0 ? " OR " : " AND "));
        }
        if (second) {
            add(where, (update ? " FROM " : " USING ") + other + " ");
        }
        if (update) {
            add(from >= 0 && from < where ? from : where, ", {fence.set} ");
        }
    }

    private void add(int at, String text) {
        pieces.addAll(Math.max(0, Math.min(at, pieces.size())), Piece.of(text, List.of()));
    }

    /** Returns where a word stands outside of brackets, or -1. */
    private int last(String word) {
        int depth = 0;
        int found = -1;
        for (int i = 0; i < pieces.size(); i++) {
            Piece piece = pieces.get(i);
            depth += piece.isSymbol("(") ? 1 : piece.isSymbol(")") ? -1 : 0;
            found = depth == 0 && piece.isWord(word) ? i : found;
        }
        return found;
    }

    /** Returns what the written table is called, in most cases. */
    private String target() {
        String name = "invoice";
        boolean alias = true;
        for (Piece piece : pieces) {
            String word = piece.text().toLowerCase(Locale.ROOT);
            if (word.equals("set") || word.equals("where") || word.equals("using")) {
                alias = name.equals("as");
            }
            if (!alias) {
                break;
            }
            if (piece.is(Kind.WORD) || piece.is(Kind.NAME)) {
                name = piece.text();
            }
        }
        return name;
    }
}
