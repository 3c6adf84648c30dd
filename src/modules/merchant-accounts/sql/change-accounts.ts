/**
 * The part of the statement that publishes events (`webhooks/queue/sql/publish-events.ts`) that connects and disconnects merchant
 * accounts. It reads the events from `event`, and changes the accounts in the order of their keys, so that concurrent statements
 * do not deadlock. If several events are about the same account, the one that happened last decides; of events with the same
 * timestamp, the one that was published last.
 */
export const CHANGE_ACCOUNTS = `
         INSERT INTO merchant_account AS account (client_id, external_user_id, merchant_id, state, since, session_id)
         SELECT client_id, external_user_id, merchant_id, (array_agg(state ORDER BY occurred_at DESC, position DESC))[1],
                max(occurred_at),
                (array_agg(session_id ORDER BY occurred_at DESC, position DESC) FILTER (WHERE session_id IS NOT NULL))[1]
           FROM event
           JOIN (VALUES ('AUTHENTICATED', 'connected'), ('ACCOUNT_LOGIN_REQUIRED', 'disconnected'))
                AS change (event, state) USING (event)
          GROUP BY client_id, external_user_id, merchant_id
          ORDER BY client_id, external_user_id, merchant_id
             ON CONFLICT (client_id, external_user_id, merchant_id) DO UPDATE
            SET state = excluded.state, since = excluded.since,
                session_id = COALESCE(excluded.session_id, account.session_id)
          WHERE account.since <= excluded.since
         RETURNING merchant_id`;
