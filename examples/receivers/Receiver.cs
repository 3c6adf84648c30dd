using System;
using System.Collections.Generic;
using System.Globalization;
using System.IO;
using System.Linq;
using System.Security.Cryptography;
using System.Text;
using System.Text.RegularExpressions;

/// <summary>
/// Verifies webhooks. Copy <see cref="Verify"/> and the methods that it calls. The rest of this file
/// runs the test vectors in this folder.
/// <code>mcs Receiver.cs &amp;&amp; mono Receiver.exe        (run with Mono 6.12)</code>
/// </summary>
public static class Receiver
{
    /// <summary>Maximum age of a delivery in seconds, which also covers clock differences.</summary>
    private const long Tolerance = 300;

    /// <summary>The service sends one signature, or a few during a rotation. Others are not compared.</summary>
    private const int MaxSignatures = 10;

    /// <summary>The shortest key that Standard Webhooks allows.</summary>
    private const int MinKeyBytes = 24;

    /// <summary>Returns whether the service sent this delivery to you just now.</summary>
    /// <param name="body">the raw bytes of the body, before any parsing</param>
    /// <param name="header">returns the value of a header, or null: <c>name => Request.Headers[name]</c></param>
    /// <param name="secret">the key of the endpoint (<c>whsec_…</c>), or the client secret, unchanged</param>
    /// <param name="now">seconds since the epoch</param>
    /// <exception cref="NotSupportedException">The key is public (<c>whpk_…</c>).</exception>
    public static bool Verify(byte[] body, Func<string, string> header, string secret, long? now = null)
    {
        if (StartsWith(secret, "whpk_"))
            throw new NotSupportedException("The standard library has no Ed25519 (whpk_…). Give the endpoint a secret (whsec_…).");
        // This order ensures that only data from the service is parsed. Service-Signature is always made with the client secret.
        if (!VerifyStandardWebhooks(body, header, secret, now ?? DateTimeOffset.UtcNow.ToUnixTimeSeconds())) return false;
        return StartsWith(secret, "whsec_") || VerifyServiceSignature(body, header, secret);
    }

    /// <summary>Verifies Service-Signature, which covers only the event, the session and the length of the body.</summary>
    public static bool VerifyServiceSignature(byte[] body, Func<string, string> header, string secret)
    {
        Dictionary<string, object> payload;
        try
        {
            payload = Json.Parse(Encoding.UTF8.GetString(body)) as Dictionary<string, object>;
        }
        catch (FormatException)
        {
            return false;
        }
        if (payload == null || !payload.TryGetValue("event", out object name) || !(name is string)) return false;
        string signed = $"Content-Length|{body.Length}|Content-Type|application/json|Encryption-Type|HMAC-SHA256|event|{name}";
        if (payload.TryGetValue("session_id", out object session))
        {
            if (!(session is string)) return false;
            signed += $"|session_id|{session}";
        }
        return IsEqual(Sign(KeyOf(secret), Encoding.UTF8.GetBytes(signed)), header("Service-Signature"));
    }

    /// <summary>Verifies the Standard Webhooks signature, which covers the ID, the time and every byte of the body.</summary>
    public static bool VerifyStandardWebhooks(byte[] body, Func<string, string> header, string secret, long now)
    {
        string id = header("webhook-id") ?? "";
        string timestamp = header("webhook-timestamp") ?? "";
        if (id == "" || !Regex.IsMatch(timestamp, @"\A[0-9]{1,15}\z")) return false;
        if (Math.Abs(now - long.Parse(timestamp, CultureInfo.InvariantCulture)) > Tolerance) return false;
        byte[] key = KeyOf(secret);
        // Anyone can sign with an empty key, or guess a short one.
        if (key.Length < MinKeyBytes) return false;
        string expected = "v1," + Sign(key, Encoding.UTF8.GetBytes($"{id}.{timestamp}.").Concat(body).ToArray());
        string[] signatures = (header("webhook-signature") ?? "").Split(new[] { ' ' }, MaxSignatures + 1);
        return signatures.Take(MaxSignatures).Any(given => IsEqual(expected, given));
    }

    /// <summary>Returns the bytes of the key: none if it is missing or malformed.</summary>
    private static byte[] KeyOf(string secret)
    {
        if (!StartsWith(secret, "whsec_")) return Encoding.UTF8.GetBytes(secret);
        try
        {
            return Convert.FromBase64String(secret.Substring(6));
        }
        catch (FormatException)
        {
            return new byte[0];
        }
    }

    private static string Sign(byte[] key, byte[] message)
    {
        using (var hmac = new HMACSHA256(key)) return Convert.ToBase64String(hmac.ComputeHash(message));
    }

    /// <summary>Compares in constant time, so that the duration does not reveal where the texts differ.</summary>
    private static bool IsEqual(string expected, string given)
    {
        return CryptographicOperations.FixedTimeEquals(Encoding.UTF8.GetBytes(expected), Encoding.UTF8.GetBytes(given ?? ""));
    }

    private static bool StartsWith(string secret, string prefix) => secret.StartsWith(prefix, StringComparison.Ordinal);

    /// <summary>Parses JSON, because the standard library of Mono cannot. With .NET, use System.Text.Json instead.</summary>
    private sealed class Json
    {
        private const int MaxDepth = 100;

        /// <summary>A string, a number, a word, a mark, or the end.</summary>
        private static readonly Regex Token = new Regex(
            @"\G[ \t\r\n]*(""(?:[^""\\\x00-\x1f]|\\(?:[""\\/bfnrt]|u[0-9A-Fa-f]{4}))*""" +
            @"|-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|true|false|null|[][{}:,]|\z)");

        private readonly string text;
        private int at;
        private int depth;
        private string next;

        /// <exception cref="FormatException">The text is not JSON.</exception>
        public static object Parse(string text)
        {
            var json = new Json(text);
            object value = json.Value();
            json.Expect("");
            return value;
        }

        private Json(string text)
        {
            this.text = text;
            Take();
        }

        private object Value()
        {
            if (next == "{") return Object();
            if (next == "[") return Array();
            if (next.StartsWith("\"", StringComparison.Ordinal)) return String();
            string word = Take();
            if (word == "null") return null;
            if (word == "true" || word == "false") return word == "true";
            if (!double.TryParse(word, NumberStyles.Float, CultureInfo.InvariantCulture, out double number)) throw new FormatException();
            return number;
        }

        private Dictionary<string, object> Object()
        {
            var fields = new Dictionary<string, object>();
            Items("{", "}", () =>
            {
                string name = String();
                Expect(":");
                fields[name] = Value();
            });
            return fields;
        }

        private List<object> Array()
        {
            var items = new List<object>();
            Items("[", "]", () => items.Add(Value()));
            return items;
        }

        private void Items(string start, string end, Action item)
        {
            Expect(start);
            if (++depth > MaxDepth) throw new FormatException();
            for (bool isFirst = true; next != end; isFirst = false)
            {
                if (!isFirst) Expect(",");
                item();
            }
            Expect(end);
            depth--;
        }

        private string String()
        {
            string quoted = Take();
            if (!quoted.StartsWith("\"", StringComparison.Ordinal)) throw new FormatException();
            // JSON has no escape that regular expressions lack.
            return Regex.Unescape(quoted.Substring(1, quoted.Length - 2));
        }

        private void Expect(string token)
        {
            if (Take() != token) throw new FormatException();
        }

        private string Take()
        {
            Match match = Token.Match(text, at);
            if (!match.Success) throw new FormatException();
            string taken = next;
            at += match.Length;
            next = match.Groups[1].Value;
            return taken;
        }
    }

    public static int Main(string[] arguments)
    {
        string folder = arguments.Length > 0 ? arguments[0] : ".";
        int count = 0;
        foreach (var vector in Read(folder, "service-signature.json", "vectors"))
        {
            Func<string, string> header = name => (string)vector["signature"];
            if (!VerifyServiceSignature(BodyOf(vector), header, (string)vector["secret"])) return Fail(vector);
            count++;
        }
        var deliveries = Read(folder, "deliveries.json", "deliveries").Concat(Read(folder, "endpoint-keys.json", "deliveries"));
        foreach (var delivery in deliveries.Where(each => !StartsWith((string)each["secret"], "whpk_")))
        {
            var headers = new Dictionary<string, object>((Dictionary<string, object>)delivery["headers"], StringComparer.OrdinalIgnoreCase);
            Func<string, string> header = name => headers.TryGetValue(name, out object value) ? (string)value : null;
            long now = (long)(double)delivery["now"];
            bool got = Verify(BodyOf(delivery), header, (string)delivery["secret"], now);
            if (got != (bool)delivery["accepted"]) return Fail(delivery);
            count++;
        }
        Console.WriteLine("ok " + count);
        return 0;
    }

    private static IEnumerable<Dictionary<string, object>> Read(string folder, string file, string list)
    {
        var document = (Dictionary<string, object>)Json.Parse(File.ReadAllText(Path.Combine(folder, file)));
        return ((List<object>)document[list]).Cast<Dictionary<string, object>>();
    }

    private static byte[] BodyOf(Dictionary<string, object> vector) => Encoding.UTF8.GetBytes((string)vector["body"]);

    private static int Fail(Dictionary<string, object> vector)
    {
        Console.Error.WriteLine("Failed: " + vector["name"]);
        return 1;
    }
}
