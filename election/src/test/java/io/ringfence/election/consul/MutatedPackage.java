package io.ringfence.election.consul;

import java.io.IOException;
import java.io.InputStream;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;

/** This package, tests included, as it would be if some of its source code were different. */
final class MutatedPackage {
    private static final List<Path> ROOTS = List.of(Path.of("src", "main", "java"), Path.of("src", "test", "java"));
    private static final String PACKAGE = MutatedPackage.class.getPackageName();

    private final Map<String, String> sources = new LinkedHashMap<>();

    /** Takes that class into the package's compilation, with the text replaced, which must be in it once. */
    MutatedPackage replace(String type, String text, String replacement) {
        String source = sources.computeIfAbsent(type, MutatedPackage::read);
        int at = source.indexOf(text);
        if (at < 0 || source.indexOf(text, at + 1) >= 0) {
            throw new AssertionError("Not exactly once in " + type + ": " + text);
        }
        sources.put(type, source.replace(text, replacement));
        return this;
    }

    private static String read(String type) {
        Path module = Path.of(System.getProperty("basedir", ""));
        for (Path root : ROOTS) {
            Path file = module.resolve(root).resolve(PACKAGE.replace('.', '/')).resolve(type + ".java");
            if (Files.exists(file)) {
                try {
                    return Files.readString(file);
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            }
        }
        throw new AssertionError("No source of " + type + " below " + module.toAbsolutePath());
    }

    /** Compiles what was replaced into that directory, and makes an instance of the type in a class loader of its own. */
    <T> T load(Path directory, Class<? extends T> type, Class<T> as) throws IOException, ReflectiveOperationException {
        compile(directory);
        ClassLoader loader = new Loader(classes(directory));
        Object instance =
                loader.loadClass(type.getName()).getDeclaredConstructor().newInstance();
        return as.cast(instance);
    }

    private void compile(Path directory) throws IOException {
        JavaCompiler compiler = Objects.requireNonNull(ToolProvider.getSystemJavaCompiler(), "this needs a JDK");
        List<JavaFileObject> units = new ArrayList<>();
        sources.forEach((type, source) -> units.add(new Source(type, source)));
        StringWriter messages = new StringWriter();
        List<String> options = List.of(
                "-proc:none",
                "-nowarn",
                "-d",
                directory.toString(),
                "-classpath",
                System.getProperty("java.class.path"));
        try (StandardJavaFileManager files = compiler.getStandardFileManager(null, null, null)) {
            if (!compiler.getTask(messages, files, null, options, null, units).call()) {
                throw new AssertionError("The changed sources do not compile:\n" + messages);
            }
        }
    }

    private static Map<String, byte[]> classes(Path directory) throws IOException {
        Map<String, byte[]> classes = new LinkedHashMap<>();
        try (Stream<Path> files = Files.walk(directory)) {
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                String name = file.getFileName().toString().replace(".class", "");
                classes.put(PACKAGE + "." + name, Files.readAllBytes(file));
            }
        }
        return classes;
    }

    private static final class Source extends SimpleJavaFileObject {
        private final String text;

        Source(String type, String text) {
            super(URI.create("string:///" + PACKAGE.replace('.', '/') + "/" + type + ".java"), Kind.SOURCE);
            this.text = text;
        }

        @Override
        public CharSequence getCharContent(boolean ignoreEncodingErrors) {
            return text;
        }
    }

    /** Loads this package itself, all changed classes as changed, and leaves the rest to the loader of the tests. */
    private static final class Loader extends ClassLoader {
        private final Map<String, byte[]> changed;

        Loader(Map<String, byte[]> changed) {
            super(MutatedPackage.class.getClassLoader());
            this.changed = changed;
        }

        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            synchronized (getClassLoadingLock(name)) {
                if (!name.startsWith(PACKAGE + ".")) {
                    return super.loadClass(name, resolve);
                }
                Class<?> loaded = findLoadedClass(name);
                return loaded == null ? define(name) : loaded;
            }
        }

        private Class<?> define(String name) throws ClassNotFoundException {
            byte[] bytes = changed.get(name);
            if (bytes == null) {
                try (InputStream file = getParent().getResourceAsStream(name.replace('.', '/') + ".class")) {
                    if (file == null) {
                        throw new ClassNotFoundException(name);
                    }
                    bytes = file.readAllBytes();
                } catch (IOException e) {
                    throw new ClassNotFoundException(name, e);
                }
            }
            return defineClass(name, bytes, 0, bytes.length);
        }
    }
}
