/** Baseline for operation 1: plain Express 5 with `pg` and one INSERT per request. */
import { randomUUID } from 'node:crypto';
import express from 'express';
import pg from 'pg';

const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, max: 10 });
await pool.query(
  `CREATE TABLE IF NOT EXISTS token (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, token text NOT NULL,
                                     external_user_id text NOT NULL, expires_at timestamptz NOT NULL)`,
);

const app = express();
app.post('/', express.json(), async (request, response) => {
  const token = randomUUID();
  const expiresAt = new Date(Date.now() + 86_400_000);
  await pool.query('INSERT INTO token (token, external_user_id, expires_at) VALUES ($1, $2, $3)', [
    token,
    request.body.external_user_id,
    expiresAt,
  ]);
  response.json({ token, expires_at: expiresAt });
});
app.listen(Number(process.env.PORT), '127.0.0.1', () => console.log('ready'));
process.on('SIGTERM', () => process.exit(0));
