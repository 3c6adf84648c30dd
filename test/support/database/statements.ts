import { DataSource } from 'typeorm';
import type { TestApp } from '../test-app.js';

/** Returns a list to which the texts of all statements of the service are added from now on. */
export function watchStatements({ app }: TestApp): string[] {
  const statements: string[] = [];
  const dataSource = app.get(DataSource);
  const { logger } = dataSource;
  dataSource.logger = Object.assign(Object.create(logger) as typeof logger, {
    logQuery: (statement: string) => void statements.push(statement),
  });
  return statements;
}
