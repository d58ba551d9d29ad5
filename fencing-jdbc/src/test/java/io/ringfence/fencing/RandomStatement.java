package io.ringfence.fencing;

import java.util.List;
import java.util.Random;

/** An UPDATE or DELETE of the table {@code item}, put together at random from what PostgreSQL's lexer knows. */
final class RandomStatement {
    private final Random random;
    private final List<Object> parameters;

    RandomStatement(Random random, List<Object> parameters) {
        this.random = random;
        this.parameters = parameters;
    }

    String text() {
        boolean update = random.nextInt(3) > 0;
        boolean alias = random.nextBoolean();
        StringBuilder sql = new StringBuilder(blank());
        sql.append(update ? "UPDATE" : "DELETE" + blank() + "FROM");
        sql.append(blank())
                .append(pick("", alias ? "" : "ONLY "))
                .append("item")
                .append(alias ? pick(" t", " AS t", " * t") : "");
        if (update) {
            sql.append(blank()).append("SET").append(blank()).append(assignments());
        }
        if (random.nextInt(20) > 0) {
            sql.append(blank()).append("WHERE").append(blank()).append(condition(3));
        }
        return sql.append(pick("", ";", " -- the end ? '", "\n/* ; */ ;", "\r\n"))
                .toString();
    }

    private String assignments() {
        return switch (random.nextInt(6)) {
            case 0 -> "a = " + number();
            case 1 -> "b = " + string() + ", a = " + number();
            case 2 -> "(a, b) = (" + number() + "," + blank() + string() + ")";
            case 3 -> "d[1] = " + number() + blank() + ", c = c || '{\"z\": 2}'::jsonb";
            case 4 -> "\"where\" = " + number() + ", b = CASE WHEN " + condition(1) + " THEN " + string() + " END";
            default -> "a = (SELECT max(i.a) FROM item i WHERE i.id = " + number() + ")";
        };
    }

    private String condition(int depth) {
        if (depth == 0 || random.nextInt(4) == 0) {
            return switch (random.nextInt(10)) {
                case 0 -> "id = " + number();
                case 1 -> number() + " = id";
                case 2 -> "id < " + number();
                case 3 -> "b = " + string();
                case 4 -> "c ?? 'k'";
                case 5 -> "\"where\" = " + number();
                case 6 -> "a IS DISTINCT FROM " + number();
                case 7 -> "d[1:2] = array[" + number() + ", 3]";
                case 8 -> "id BETWEEN " + number() + " AND " + number();
                default -> "id IN (SELECT id FROM item WHERE a = " + number() + " OR id = " + number() + " LIMIT 3)";
            };
        }
        String left = condition(depth - 1);
        return switch (random.nextInt(6)) {
            case 0 -> left + blank() + "OR" + blank() + condition(depth - 1);
            case 1 -> left + blank() + "AND" + blank() + condition(depth - 1);
            case 2 -> "(" + left + blank() + ")";
            case 3 -> "NOT" + blank() + "(" + left + ")";
            case 4 -> "CASE WHEN " + left + " THEN " + condition(depth - 1) + blank() + "ELSE false END";
            default -> "(" + left + ")" + blank() + "OR" + blank() + "(" + condition(depth - 1) + ")";
        };
    }

    private String number() {
        int value = 1 + random.nextInt(40);
        if (random.nextBoolean()) {
            parameters.add(value);
            return pick("?::int", "CAST(? AS int)", "? /* ? */");
        }
        return pick(String.valueOf(value), "(" + value + ")", "0x" + Integer.toHexString(value));
    }

    private String string() {
        if (random.nextInt(3) == 0) {
            parameters.add("x" + random.nextInt(40));
            return "?::text";
        }
        return pick(
                "'x3'",
                "'? WHERE '' OR -- '",
                "E'\\' ) OR ? '",
                "$$ ' ? ) $$",
                "$w$ $$ WHERE $w$",
                "U&'\\0078' || '4'");
    }

    private String blank() {
        return pick(" ", " ", " ", "\n", "\t", " /* where ' /* ? */ ) */ ", " -- ? ) WHERE '\n", "\r\n");
    }

    private String pick(String... options) {
        return options[random.nextInt(options.length)];
    }
}
