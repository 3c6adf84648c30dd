import { readdirSync, readFileSync } from 'node:fs';

/** Clock ticks per second, which is 100 on every Linux that Node.js supports. */
const TICKS = 100;

function statOf(pid) {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    const [user, system, endedUser, endedSystem] = fields.slice(11, 15).map(Number);
    return { parent: Number(fields[1]), own: user + system, ended: endedUser + endedSystem };
  } catch {
    return undefined;
  }
}

/** Returns the CPU time in milliseconds that these processes and their children have used so far, ended children included. */
export function cpuOf(pids) {
  const all = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((name) => [Number(name), statOf(name)])
    .filter(([, stat]) => stat !== undefined);
  let ticks = 0;
  for (const [pid, stat] of all) {
    if (pids.includes(pid)) ticks += stat.own + stat.ended;
    else if (pids.includes(stat.parent)) ticks += stat.own;
  }
  return (ticks * 1000) / TICKS;
}

/** Returns the resident memory of a process in megabytes. */
export function memoryOf(pid) {
  const [, kilobytes] = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
  return Number(kilobytes) / 1024;
}
