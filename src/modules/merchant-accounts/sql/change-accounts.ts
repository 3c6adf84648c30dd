/**
 * The part of the statement that publishes events (`webhooks/queue/sql/publish-events.ts`) that connects and disconnects merchant
 * accounts. It reads the events from `event`, and changes the accounts in the order of their keys, so that concurrent statements
 * do not deadlock. If several events are about the same account, the one that happened last decides; of events with the same
 * timestamp, the one that was published last.
 *
 * An account that was unlinked is connected by the next sign-in, although the clocks of three machines may differ: that of the
 * publisher that connected it, which `since` may come from, that of the process that unlinked it, and that of the next publisher. The
 * next sign-in is an event without a `timestamp`, which happens when it is published, or one after the unlinking that belongs to
 * another session. An event of the same session may have happened before.
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
            SET state = excluded.state, since = excluded.since, unlinked_at = NULL,
                session_id = COALESCE(excluded.session_id, account.session_id)
          WHERE account.since <= excluded.since
             OR account.unlinked_at IS NOT NULL AND excluded.state = 'connected'
                AND (account.unlinked_at <= excluded.since AND account.session_id <> excluded.session_id
                     OR (excluded.client_id, excluded.external_user_id, excluded.merchant_id) IN (
                       SELECT client_id, external_user_id, merchant_id FROM event
                        WHERE event = 'AUTHENTICATED' AND occurred_at = created_at))
         RETURNING merchant_id`;
