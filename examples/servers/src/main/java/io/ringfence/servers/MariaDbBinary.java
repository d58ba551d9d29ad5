package io.ringfence.servers;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A mariadbd executable that ran once and said which version it is.
 *
 * @param path the executable
 * @param share the directory with its messages and the SQL that makes its system tables
 * @param version the version, such as 11.4.5
 * @param origin how it was found
 */
record MariaDbBinary(Path path, Path share, String version, String origin) {

    private static final Pattern VERSION = Pattern.compile("Ver (\\d+\\.\\d+\\.\\d+)-MariaDB");
    private static final Duration PATIENCE = Duration.ofSeconds(20);

    /**
     * Asks the executable for its version.
     *
     * @throws IOException if it does not run, is no mariadbd, or its package is not whole
     */
    static MariaDbBinary probe(Path path, String origin) throws IOException {
        String out = Command.run(PATIENCE, List.of(path.toString(), "--no-defaults", "--version"))
                .out();
        Matcher matcher = VERSION.matcher(out);
        if (!matcher.find()) {
            throw new IOException("it is no mariadbd: with --version it printed '" + out + "'");
        }
        Path real = path.toRealPath();
        Path base = real.resolveSibling("..").normalize();
        for (String name : List.of("share", "share/mariadb", "share/mysql")) {
            MariaDbBinary found = new MariaDbBinary(real, base.resolve(name), matcher.group(1), origin);
            if (Files.isReadable(found.systemTables(""))) {
                return found;
            }
        }
        throw new IOException("no directory below " + base + "/share has its system tables");
    }

    /** Returns the script that makes the system tables, or with {@code _data} the one that fills them. */
    Path systemTables(String suffix) {
        Path script = share.resolve("mariadb_system_tables" + suffix + ".sql");
        // the name before 11.0
        return Files.exists(script) ? script : share.resolve("mysql_system_tables" + suffix + ".sql");
    }
}
