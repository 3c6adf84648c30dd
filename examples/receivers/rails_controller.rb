# frozen_string_literal: true

# A webhook receiver with Rails: copy it to app/controllers/webhooks_controller.rb, and receiver.rb to vendor: Rails 7.1 loads lib
# itself, and expects that each file there defines a constant. Add this route:
#
#     post '/webhooks', to: 'webhooks#receive'
require_relative '../../vendor/receiver'

class WebhooksController < ActionController::API
  MAX_BODY = 1_048_576
  # The key of the endpoint (`whsec_…` or `whpk_…`), or the client secret. Ends the start if it is missing.
  SECRET = ENV.fetch('WEBHOOK_SECRET')
  HEADERS = %w[webhook-id webhook-timestamp webhook-signature Service-Signature].freeze

  def receive
    # Names of this status differ between versions of Rack.
    return head 413 if request.content_length.to_i > MAX_BODY

    # Not `params`, from which the bytes cannot be restored.
    body = request.raw_post
    headers = HEADERS.to_h { |name| [name, request.headers[name].to_s] }
    return head :unauthorized unless verify(body, headers, SECRET)

    # Add the event to your queue here, unless it contains this ID already, and process it afterward.
    Rails.logger.info("#{headers['webhook-id']} #{JSON.parse(body)['event']}")
    head :ok
  end
end
