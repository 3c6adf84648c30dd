import { createRequire } from 'node:module';

/** Values that are loaded at their first use, once for concurrent users. If that fails, the next use loads again. */
export class LazyValues<Value> {
  private readonly values = new Map<string, Promise<Value>>();

  get(name: string, load: () => Promise<Value>): Promise<Value> {
    const known = this.values.get(name);
    if (known) return known;
    const loading = load();
    this.values.set(name, loading);
    loading.catch(() => this.values.delete(name));
    return loading;
  }
}

/** Returns a function that loads the value at its first use, like `LazyValues`. */
export function lazy<Value>(load: () => Promise<Value>): () => Promise<Value> {
  const values = new LazyValues<Value>();
  return () => values.get('', load);
}

/**
 * Returns a function that loads a module at its first use. If one of its files cannot be read, because the process has too many open
 * files, for example, the next use loads it again: `import()` would fail until the process ends, because Node.js keeps its failures.
 *
 * @param name of a package, or the path of a file
 * @param from `import.meta.url`
 */
export function lazyModule<Module>(name: string, from: string): () => Module {
  const require = createRequire(from);
  return () => require(name) as Module;
}
