import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.MessageDigest;
import java.security.Signature;
import java.security.spec.X509EncodedKeySpec;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * Verifies webhooks. Copy {@link #verify} and the methods that it calls. The rest of this file
 * runs the test vectors in this folder.
 *
 * <pre>java Receiver.java        (Java 17 or later)</pre>
 */
public final class Receiver {
    /** Maximum age of a delivery in seconds, which also covers clock differences. */
    private static final long TOLERANCE = 300;

    /** The service sends one signature, or a few during a rotation. Others are not compared. */
    private static final int MAX_SIGNATURES = 10;
    /** Secrets of clients and keys of endpoints are longer. */
    private static final int MIN_KEY_BYTES = 24;

    /**
     * Returns whether the service sent this delivery to you just now.
     *
     * @param body the raw bytes of the body, before any parsing
     * @param secret the key of the endpoint ({@code whsec_…} or {@code whpk_…}), or the client secret, unchanged
     * @param now seconds since the epoch: {@code Instant.now().getEpochSecond()}
     */
    public static boolean verify(byte[] body, Map<String, String> headers, String secret, long now) {
        // This order ensures that only data from the service is parsed. Service-Signature is always made with the client secret.
        if (!verifyStandardWebhooks(body, headers, secret, now)) return false;
        boolean isKeyOfEndpoint = secret.startsWith("whsec_") || secret.startsWith("whpk_");
        return isKeyOfEndpoint || verifyServiceSignature(body, headers, secret);
    }

    /** Verifies {@code Service-Signature}, which covers only the event, the session and the length of the body. */
    public static boolean verifyServiceSignature(byte[] body, Map<String, String> headers, String secret) {
        Object payload;
        try {
            payload = new Json(new String(body, StandardCharsets.UTF_8)).read();
        } catch (IllegalArgumentException notJson) {
            return false;
        }
        if (!(payload instanceof Map<?, ?> fields) || !(fields.get("event") instanceof String event)) return false;
        String signed = "Content-Length|" + body.length
            + "|Content-Type|application/json|Encryption-Type|HMAC-SHA256|event|" + event;
        if (fields.containsKey("session_id")) {
            if (!(fields.get("session_id") instanceof String session)) return false;
            signed += "|session_id|" + session;
        }
        return isEqual(sign(secret, signed.getBytes(StandardCharsets.UTF_8)), valueOf(headers, "Service-Signature"));
    }

    /** Verifies the Standard Webhooks signature, which covers the ID, the time and every byte of the body. */
    public static boolean verifyStandardWebhooks(byte[] body, Map<String, String> headers, String secret, long now) {
        String id = valueOf(headers, "webhook-id");
        String timestamp = valueOf(headers, "webhook-timestamp");
        if (id.isEmpty() || !timestamp.matches("[0-9]{1,15}")) return false;
        if (Math.abs(now - Long.parseLong(timestamp)) > TOLERANCE) return false;
        byte[] start = (id + "." + timestamp + ".").getBytes(StandardCharsets.UTF_8);
        String[] signatures = valueOf(headers, "webhook-signature").split(" ", MAX_SIGNATURES + 1);
        if (secret.startsWith("whpk_"))
            return Arrays.stream(signatures).limit(MAX_SIGNATURES).anyMatch(given -> isSignedBy(secret, given, start, body));
        // Anyone can sign with an empty key, or guess a short one.
        if (keyOf(secret).length < MIN_KEY_BYTES) return false;
        String expected = "v1," + sign(secret, start, body);
        return Arrays.stream(signatures).limit(MAX_SIGNATURES).anyMatch(given -> isEqual(expected, given));
    }

    /** Returns the bytes of the key: none if it is missing or malformed. */
    private static byte[] keyOf(String secret) {
        if (!secret.startsWith("whsec_")) return secret.getBytes(StandardCharsets.UTF_8);
        try {
            return Base64.getDecoder().decode(secret.substring(6));
        } catch (IllegalArgumentException malformed) {
            return new byte[0];
        }
    }

    private static String sign(String secret, byte[]... parts) {
        try {
            Mac mac = Mac.getInstance("HmacSHA256");
            mac.init(new SecretKeySpec(keyOf(secret), "HmacSHA256"));
            for (byte[] part : parts) mac.update(part);
            return Base64.getEncoder().encodeToString(mac.doFinal());
        } catch (GeneralSecurityException everyJavaHasIt) {
            throw new IllegalStateException(everyJavaHasIt);
        }
    }

    /** Returns whether an Ed25519 signature is of the public key. */
    private static boolean isSignedBy(String publicKey, String given, byte[]... parts) {
        if (!given.startsWith("v1a,")) return false;
        try {
            byte[] key = HexFormat.of().parseHex("302a300506032b6570032100" + HexFormat.of()
                .formatHex(Base64.getDecoder().decode(publicKey.substring(5))));
            Signature signature = Signature.getInstance("Ed25519");
            signature.initVerify(KeyFactory.getInstance("Ed25519").generatePublic(new X509EncodedKeySpec(key)));
            for (byte[] part : parts) signature.update(part);
            return signature.verify(Base64.getDecoder().decode(given.substring(4)));
        } catch (GeneralSecurityException | IllegalArgumentException malformed) {
            return false;
        }
    }

    /** Compares in constant time, so that the duration does not reveal where the texts differ. */
    private static boolean isEqual(String expected, String given) {
        return given.length() == expected.length() && MessageDigest.isEqual(
            expected.getBytes(StandardCharsets.UTF_8), given.getBytes(StandardCharsets.UTF_8));
    }

    private static String valueOf(Map<String, String> headers, String name) {
        for (Map.Entry<String, String> header : headers.entrySet()) {
            if (header.getKey().equalsIgnoreCase(name)) return header.getValue();
        }
        return "";
    }

    /** Parses JSON, because the standard library of Java cannot. If you use Jackson or Gson, use that instead. */
    private static final class Json {
        private static final int MAX_DEPTH = 100;
        private final String text;
        private int at;
        private int depth;

        Json(String text) {
            this.text = text;
        }

        Object read() {
            Object value = value();
            skipSpace();
            if (at < text.length()) throw wrong();
            return value;
        }

        private Object value() {
            skipSpace();
            if (at >= text.length()) throw wrong();
            char first = text.charAt(at);
            if (first == '"') return string();
            if (first == '{' || first == '[') {
                if (++depth > MAX_DEPTH) throw wrong();
                Object value = first == '{' ? object() : array();
                depth--;
                return value;
            }
            int start = at;
            while (at < text.length() && "+-.0123456789Eaeflnrstu".indexOf(text.charAt(at)) >= 0) at++;
            String word = text.substring(start, at);
            switch (word) {
                case "true": return true;
                case "false": return false;
                case "null": return null;
                default:
                    if (!word.matches("-?(0|[1-9][0-9]*)(\\.[0-9]+)?([eE][+-]?[0-9]+)?")) throw wrong();
                    return Double.valueOf(word);
            }
        }

        private Map<String, Object> object() {
            Map<String, Object> fields = new LinkedHashMap<>();
            at++;
            if (skipIf('}')) return fields;
            do {
                skipSpace();
                String name = string();
                if (!skipIf(':')) throw wrong();
                fields.put(name, value());
            } while (skipIf(','));
            if (!skipIf('}')) throw wrong();
            return fields;
        }

        private List<Object> array() {
            List<Object> items = new ArrayList<>();
            at++;
            if (skipIf(']')) return items;
            do items.add(value()); while (skipIf(','));
            if (!skipIf(']')) throw wrong();
            return items;
        }

        private String string() {
            if (next() != '"') throw wrong();
            StringBuilder read = new StringBuilder();
            for (char each = next(); each != '"'; each = next()) {
                if (each < ' ') throw wrong();
                read.append(each == '\\' ? escaped(next()) : each);
            }
            return read.toString();
        }

        private char escaped(char letter) {
            int plain = "\"\\/".indexOf(letter);
            if (plain >= 0) return letter;
            int control = "bfnrt".indexOf(letter);
            if (control >= 0) return "\b\f\n\r\t".charAt(control);
            if (letter != 'u' || at + 4 > text.length()) throw wrong();
            String digits = text.substring(at, at += 4);
            if (!digits.matches("[0-9A-Fa-f]{4}")) throw wrong();
            return (char) Integer.parseInt(digits, 16);
        }

        private char next() {
            if (at >= text.length()) throw wrong();
            return text.charAt(at++);
        }

        private boolean skipIf(char expected) {
            skipSpace();
            if (at >= text.length() || text.charAt(at) != expected) return false;
            at++;
            return true;
        }

        private void skipSpace() {
            while (at < text.length() && " \t\r\n".indexOf(text.charAt(at)) >= 0) at++;
        }

        private IllegalArgumentException wrong() {
            return new IllegalArgumentException("Invalid JSON at " + at);
        }
    }

    public static void main(String[] arguments) throws Exception {
        Path folder = Path.of(arguments.length > 0 ? arguments[0] : ".");
        int count = 0;
        for (Map<String, Object> vector : read(folder.resolve("service-signature.json"), "vectors")) {
            byte[] body = ((String) vector.get("body")).getBytes(StandardCharsets.UTF_8);
            Map<String, String> headers = Map.of("Service-Signature", (String) vector.get("signature"));
            expectThat(vector, verifyServiceSignature(body, headers, (String) vector.get("secret")));
            count++;
        }
        List<Map<String, Object>> deliveries = new ArrayList<>(read(folder.resolve("deliveries.json"), "deliveries"));
        deliveries.addAll(read(folder.resolve("endpoint-keys.json"), "deliveries"));
        for (Map<String, Object> delivery : deliveries) {
            byte[] body = ((String) delivery.get("body")).getBytes(StandardCharsets.UTF_8);
            @SuppressWarnings("unchecked")
            Map<String, String> headers = (Map<String, String>) delivery.get("headers");
            long now = ((Double) delivery.get("now")).longValue();
            boolean got = verify(body, headers, (String) delivery.get("secret"), now);
            expectThat(delivery, got == (Boolean) delivery.get("accepted"));
            count++;
        }
        System.out.println("ok " + count);
    }

    @SuppressWarnings("unchecked")
    private static List<Map<String, Object>> read(Path file, String list) throws Exception {
        Object document = new Json(Files.readString(file)).read();
        return (List<Map<String, Object>>) ((Map<String, Object>) document).get(list);
    }

    private static void expectThat(Map<String, Object> about, boolean isRight) {
        if (isRight) return;
        System.err.println("Failed: " + about.get("name"));
        System.exit(1);
    }
}
