# frozen_string_literal: true

# Verifies webhooks. Copy `verify` and the functions that it calls. The rest of this file
# runs the test vectors in this folder.
#
#     ruby receiver.rb        (Ruby 2.7 or later; public keys, `whpk_…`, need 3.1)

require 'json'
require 'openssl'

# Maximum age of a delivery in seconds, which also covers clock differences.
TOLERANCE = 300
# The service sends one signature, or a few during a rotation. Others are not compared.
MAX_SIGNATURES = 10
# Secrets of clients and keys of endpoints are longer.
MIN_KEY_BYTES = 24

# Returns whether the service sent this delivery to you just now.
#
# body: the raw bytes of the body, before any parsing
# headers: names and values
# secret: the key of the endpoint (`whsec_…` or `whpk_…`), or the client secret, unchanged
# now: seconds since the epoch
def verify(body, headers, secret, now = Time.now.to_i)
  # This order ensures that only data from the service is parsed. `Service-Signature` is always made with the client secret.
  return false unless verify_standard_webhooks(body, headers, secret, now)

  secret.start_with?('whsec_', 'whpk_') || verify_service_signature(body, headers, secret)
end

# Verifies `Service-Signature`, which covers only the event, the session and the length of the body.
def verify_service_signature(body, headers, secret)
  payload = JSON.parse(body)
  return false unless payload.is_a?(Hash) && payload['event'].is_a?(String)

  signed = "Content-Length|#{body.bytesize}|Content-Type|application/json|Encryption-Type|HMAC-SHA256" \
           "|event|#{payload['event']}"
  if payload.key?('session_id')
    return false unless payload['session_id'].is_a?(String)

    signed += "|session_id|#{payload['session_id']}"
  end
  equal_in_constant_time?(sign(secret, signed), value_of(headers, 'service-signature'))
rescue JSON::ParserError
  false
end

# Verifies the Standard Webhooks signature, which covers the ID, the time and every byte of the body.
def verify_standard_webhooks(body, headers, secret, now)
  id = value_of(headers, 'webhook-id')
  timestamp = value_of(headers, 'webhook-timestamp')
  return false if id.empty? || !timestamp.match?(/\A[0-9]{1,15}\z/) || (now - timestamp.to_i).abs > TOLERANCE

  message = "#{id}.#{timestamp}.".b + body.b
  signatures = value_of(headers, 'webhook-signature').split(' ', MAX_SIGNATURES + 1).first(MAX_SIGNATURES)
  return signatures.any? { |given| signed_by?(secret, message, given) } if secret.start_with?('whpk_')

  # Anyone can sign with an empty key, or guess a short one.
  return false if key_of(secret).bytesize < MIN_KEY_BYTES

  expected = "v1,#{sign(secret, message)}"
  signatures.any? { |given| equal_in_constant_time?(expected, given) }
end

# Returns the bytes of the key: none if it is missing or malformed.
def key_of(secret)
  secret.start_with?('whsec_') ? secret.delete_prefix('whsec_').unpack1('m0') : secret
rescue ArgumentError
  ''
end

def sign(secret, message)
  [OpenSSL::HMAC.digest('SHA256', key_of(secret), message)].pack('m0')
end

# Returns whether an Ed25519 signature is of the public key.
def signed_by?(public_key, message, given)
  return false unless given.start_with?('v1a,')

  der = ['302a300506032b6570032100'].pack('H*') + public_key.delete_prefix('whpk_').unpack1('m0')
  OpenSSL::PKey.read(der).verify(nil, given.delete_prefix('v1a,').unpack1('m0'), message)
rescue ArgumentError, OpenSSL::PKey::PKeyError
  false
end

# Compares in constant time, so that the duration does not reveal where the texts differ.
def equal_in_constant_time?(expected, given)
  expected.bytesize == given.bytesize && OpenSSL.fixed_length_secure_compare(expected, given)
end

def value_of(headers, name)
  headers.find { |key, _| key.downcase == name }&.last.to_s
end

def main(folder)
  read = ->(file) { JSON.parse(File.read(File.join(folder, file), encoding: 'UTF-8')) }
  vectors = read.call('service-signature.json')['vectors']
  deliveries = %w[deliveries.json endpoint-keys.json].flat_map { |file| read.call(file)['deliveries'] }
  vectors.each do |vector|
    headers = { 'Service-Signature' => vector['signature'] }
    next if verify_service_signature(vector['body'], headers, vector['secret'])

    abort "Failed: #{vector['name']}"
  end
  deliveries.each do |delivery|
    body, headers, secret, now = delivery.values_at('body', 'headers', 'secret', 'now')
    next if verify(body, headers, secret, now) == delivery['accepted']

    abort "Failed: #{delivery['name']}"
  end
  puts "ok #{vectors.size + deliveries.size}"
end

main(ARGV[0] || __dir__) if $PROGRAM_NAME == __FILE__
