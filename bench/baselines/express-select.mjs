/** Baseline for operation 5: plain Express 5 with `pg` and one SELECT per request. */
import express from 'express';
import pg from 'pg';

const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, max: 10 });
const app = express();
app.post('/', express.json(), async (request, response) => {
  const { external_user_id, names } = request.body;
  const { rows } = await pool.query(
    `SELECT merchant_name.match_key, account.detected_at
       FROM merchant_name
       JOIN detected_account account ON account.merchant_id = merchant_name.merchant_id
      WHERE account.client_id = $1 AND account.external_user_id = $2 AND merchant_name.match_key = ANY ($3)`,
    [process.env.CLIENT_ID, external_user_id, names.map((name) => name.toLowerCase())],
  );
  const found = new Map(rows.map((row) => [row.match_key, row.detected_at]));
  response.json(names.map((name) => ({ name, detected_at: found.get(name.toLowerCase()) ?? null })));
});
app.listen(Number(process.env.PORT), '127.0.0.1', () => console.log('ready'));
process.on('SIGTERM', () => process.exit(0));
