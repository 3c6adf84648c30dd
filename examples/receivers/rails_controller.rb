# frozen_string_literal: true

# A webhook receiver with Rails: copy it to app/controllers/webhooks_controller.rb, and receiver.rb to vendor: Rails 7.1 loads lib
# itself, and expects that each file there defines a constant. Add this route:
#
#     post '/webhooks', to: 'webhooks#receive'
require_relative '../../vendor/receiver'

# Other base classes parse the body of each request, and log it, before they call the action.
class WebhooksController < ActionController::Metal
  MAX_BODY = 1_048_576
  # The key of the endpoint (`whsec_…` or `whpk_…`), or the client secret. During a rotation, both keys, separated by a space.
  SECRETS = ENV.fetch('WEBHOOK_SECRET').split
  HEADERS = %w[webhook-id webhook-timestamp webhook-signature Service-Signature].freeze

  def receive
    self.status = answer
    self.response_body = ''
  end

  private

  # Returns the status of the response.
  def answer
    # Not `params`, from which the bytes cannot be restored. A chunked body has no length.
    body = request.body.read(MAX_BODY + 1).to_s
    return 413 if body.bytesize > MAX_BODY

    headers = HEADERS.to_h { |name| [name, request.headers[name].to_s] }
    return 401 unless SECRETS.any? { |secret| verify(body, headers, secret) }

    # Add the event to your queue here, unless it contains this ID already, and process it afterward.
    Rails.logger.info("#{headers['webhook-id']} #{JSON.parse(body)['event']}")
    200
  end
end
