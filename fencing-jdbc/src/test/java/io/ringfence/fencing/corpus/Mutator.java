package io.ringfence.fencing.corpus;

import io.ringfence.fencing.corpus.Piece.Kind;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.random.RandomGenerator;
import java.util.stream.IntStream;

/** Changes a statement at random in one to three of the ways in which people and generators get statements wrong. */
final class Mutator {
    /** The fenced statements of the corpus, in its order. */
    static final List<List<Piece>> BASES =
            Corpus.fenced().stream().map(Piece::of).toList();

    private final RandomGenerator random;
    private final List<Piece> pieces;

    private Mutator(RandomGenerator random, List<Piece> base) {
        this.random = random;
        this.pieces = new ArrayList<>(base);
    }

    /** Returns a changed copy of a statement. */
    static List<Piece> mutate(List<Piece> base, RandomGenerator random) {
        Mutator mutator = new Mutator(random, base);
        int most = random.nextInt(4);
        int changes = 1 + Math.min(most, random.nextInt(4));
        for (int i = 0; i < changes; i++) {
            mutator.change();
        }
        return List.copyOf(mutator.pieces);
    }

    private void change() {
        switch (random.nextInt(29)) {
            case 0 -> insert(gap(), " " + pick(Fragments.WORDS) + " ");
            case 1 -> insert(gap(), pick(Fragments.SYMBOLS));
            case 2, 3, 4, 5, 6, 7 -> insert(gap(), pick(Fragments.COMMENTS));
            case 8, 9 -> blank();
            case 10, 11 -> spelling();
            case 12, 13, 14, 15, 16 -> wrap(condition());
            case 17 -> wrap(new int[] {gap(), gap()});
            case 18 -> wrap(marker());
            case 19 -> drop();
            case 20 -> twice();
            case 21 -> swap();
            case 22 -> splice();
            case 23 -> transplant();
            case 24 -> value();
            case 25, 26 -> Marking.of(pieces, random).change();
            case 27 -> insert(0, pick(Fragments.QUERIES));
            default -> alias();
        }
    }

    private int gap() {
        return random.nextInt(pieces.size() + 1);
    }

    private <T> T pick(List<T> all) {
        return all.get(random.nextInt(all.size()));
    }

    private void insert(int gap, String text) {
        pieces.addAll(gap, Piece.of(text, List.of()));
    }

    /** Replaces a blank by another, or a comment, or takes it away. */
    private void blank() {
        int at = oneOf(Kind.BLANK);
        if (at >= 0) {
            pieces.set(at, new Piece(Kind.BLANK, pick(Fragments.BLANKS)));
        }
    }

    private void spelling() {
        int at = oneOf(random.nextBoolean() ? Kind.WORD : Kind.NAME);
        if (at < 0) {
            return;
        }
        String text = pieces.get(at).text();
        String other = switch (random.nextInt(4)) {
            case 0 -> text.toUpperCase(Locale.ROOT);
            case 1 -> '"' + text.toLowerCase(Locale.ROOT).replace("\"", "") + '"';
            case 2 -> text.replace("\"", "");
            default -> text.substring(0, 1).toUpperCase(Locale.ROOT) + text.substring(1);
        };
        pieces.set(at, new Piece(Kind.WORD, other));
    }

    /** Returns the bounds of the condition, or of one of its parts that AND or OR separates. */
    private int[] condition() {
        List<Integer> cuts = new ArrayList<>();
        int depth = 0;
        int end = pieces.size();
        for (int i = 0; i < pieces.size(); i++) {
            Piece piece = pieces.get(i);
            depth += piece.isSymbol("(") ? 1 : piece.isSymbol(")") ? -1 : 0;
            if (piece.isWord("where") || (!cuts.isEmpty() && (piece.isWord("and") || piece.isWord("or")))) {
                cuts.add(i + 1);
            } else if (depth == 0 && (piece.isWord("returning") || piece.isSymbol(";"))) {
                end = i;
                break;
            }
        }
        if (cuts.isEmpty()) {
            return new int[] {gap(), gap()};
        }
        cuts.add(end + 1);
        int first = random.nextInt(cuts.size() - 1);
        int last = first + 1 + random.nextInt(cuts.size() - 1 - first);
        return new int[] {cuts.get(first), cuts.get(last) - 1};
    }

    private int[] marker() {
        int at = oneOf(Kind.MARKER);
        return at < 0 ? condition() : new int[] {at, at + 1};
    }

    private void wrap(int[] bounds) {
        int from = Math.min(bounds[0], bounds[1]);
        int to = Math.max(bounds[0], bounds[1]);
        List<Piece> inner = List.copyOf(pieces.subList(from, to));
        pieces.subList(from, to).clear();
        String[] around = pick(Fragments.AROUND).split("%", -1);
        List<Piece> wrapped = new ArrayList<>(Piece.of(" " + around[0], List.of()));
        for (int i = 1; i < around.length; i++) {
            wrapped.addAll(inner);
            wrapped.addAll(Piece.of(around[i], List.of()));
        }
        wrapped.add(new Piece(Kind.BLANK, " "));
        pieces.addAll(from, wrapped);
    }

    private void drop() {
        if (!pieces.isEmpty()) {
            pieces.remove(random.nextInt(pieces.size()));
        }
    }

    private void twice() {
        if (!pieces.isEmpty()) {
            int at = random.nextInt(pieces.size());
            pieces.add(at, new Piece(Kind.BLANK, " "));
            pieces.add(at, pieces.get(at + 1));
        }
    }

    private void swap() {
        List<Integer> solid = IntStream.range(0, pieces.size())
                .filter(i -> !pieces.get(i).isSpace())
                .boxed()
                .toList();
        if (solid.size() > 1) {
            int first = random.nextInt(solid.size() - 1);
            int second = random.nextBoolean() ? first + 1 : random.nextInt(solid.size());
            Piece piece = pieces.get(solid.get(first));
            pieces.set(solid.get(first), pieces.get(solid.get(second)));
            pieces.set(solid.get(second), piece);
        }
    }

    private List<Piece> other() {
        return BASES.get(random.nextInt(BASES.size()));
    }

    /** Goes on as another statement does, if possible behind the same word. */
    private void splice() {
        List<Piece> other = other();
        int at = gap();
        int from = random.nextInt(other.size());
        for (int i = 0; i < other.size() && at < pieces.size(); i++) {
            if (pieces.get(at).is(Kind.WORD)
                    && other.get(i).isWord(pieces.get(at).text())) {
                from = i;
            }
        }
        pieces.subList(at, pieces.size()).clear();
        pieces.addAll(other.subList(from, other.size()));
    }

    /** Puts a stretch of another statement into this one. */
    private void transplant() {
        List<Piece> other = other();
        int from = random.nextInt(other.size());
        int to = Math.min(other.size(), from + 1 + random.nextInt(12));
        int at = gap();
        if (random.nextBoolean()) {
            pieces.subList(at, Math.min(pieces.size(), at + to - from)).clear();
        }
        pieces.addAll(at, other.subList(from, to));
    }

    private void value() {
        int at = oneOf(pick(List.of(Kind.LITERAL, Kind.LITERAL, Kind.PARAMETER, Kind.MARKER)));
        if (at < 0) {
            at = oneOf(Kind.WORD);
        }
        if (at >= 0) {
            Piece changed = random.nextInt(3) == 0
                    ? new Piece(Kind.PARAMETER, "1")
                    : new Piece(Kind.LITERAL, pick(Fragments.VALUES));
            pieces.set(at, changed);
        }
    }

    /** Gives something an alias, or calls it as something else in the statement is called. */
    private void alias() {
        int at = oneOf(Kind.WORD);
        if (at < 0) {
            return;
        }
        if (random.nextBoolean()) {
            int name = oneOf(random.nextInt(4) > 0 ? Kind.WORD : Kind.NAME);
            pieces.set(at, pieces.get(name < 0 ? at : name));
        } else {
            insert(at + 1, (random.nextBoolean() ? " AS " : " ") + pick(Fragments.ALIASES));
        }
    }

    /** Returns where some piece of that kind is, or -1. */
    private int oneOf(Kind kind) {
        int[] places = IntStream.range(0, pieces.size())
                .filter(i -> pieces.get(i).is(kind))
                .toArray();
        return places.length == 0 ? -1 : places[random.nextInt(places.length)];
    }
}
