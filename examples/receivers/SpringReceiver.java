import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.http.HttpHeaders;
import org.springframework.http.ResponseEntity;
import org.springframework.util.Assert;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestHeader;
import org.springframework.web.bind.annotation.RestController;

/**
 * A webhook receiver with Spring: copy it into your application, with {@code Receiver.java} beside it. {@code webhook.secret} is the
 * key of the endpoint ({@code whsec_…} or {@code whpk_…}), or the client secret. Spring Security refuses the requests with 401 or 403
 * of its own: permit the path ({@code requestMatchers("/webhooks").permitAll()}), and exempt it from the CSRF protection ({@code
 * csrf(csrf -> csrf.ignoringRequestMatchers("/webhooks"))}).
 */
@RestController
public class SpringReceiver {
    /** In bytes. Tomcat limits only forms. */
    private static final int MAX_BODY = 1_048_576;

    private final String secret;

    /** Ends the start if the secret is missing. */
    public SpringReceiver(@Value("${webhook.secret}") String secret) {
        Assert.hasText(secret, "Set webhook.secret to the secret of your API client, or to the key of the endpoint.");
        this.secret = secret;
    }

    /** The body is a stream, not a class of yours: from an object that Jackson has parsed, the bytes cannot be restored. */
    @PostMapping("/webhooks")
    public ResponseEntity<Void> receive(InputStream body, @RequestHeader HttpHeaders headers) throws IOException {
        byte[] bytes = body.readNBytes(MAX_BODY + 1);
        if (bytes.length > MAX_BODY) return ResponseEntity.status(413).build();
        if (!Receiver.verify(bytes, headers.toSingleValueMap(), secret, Instant.now().getEpochSecond()))
            return ResponseEntity.status(401).build();
        // Add the event to your queue here, unless it contains this ID already, and process it afterward.
        // A map of headers would have no `webhook-id` behind a proxy that writes `Webhook-Id`.
        System.out.println(headers.getFirst("webhook-id") + " " + new String(bytes, StandardCharsets.UTF_8));
        return ResponseEntity.ok().build();
    }
}
