import { Injectable, Logger, Module } from '@nestjs/common';
import { ServiceConfiguration } from '../config/index.js';
import { GaugeMetric, Metrics } from '../metrics/index.js';
import { MINUTE } from '../time/index.js';
import { checkDataDirectory, freeBytes } from './check-data-directory.js';

const USABLE = new GaugeMetric({
  name: 'mcs_data_directory_usable',
  help: 'Whether files can be written to `DATA_DIR`: 1, or 0. Checked at most once per minute.',
});
const FREE = new GaugeMetric({
  name: 'mcs_data_directory_free_bytes',
  help: 'Free space for files in `DATA_DIR`.',
});

/** Exports whether a process that ends could save what it has not written to the database. */
@Injectable()
class DataDirectoryMetrics {
  constructor({ dataDirectory }: ServiceConfiguration, metrics: Metrics) {
    const usable = metrics.cached('data_directory', {
      freshFor: MINUTE,
      load: async () => {
        const problem = await checkDataDirectory(dataDirectory);
        if (problem) new Logger('DataDirectory').error(`${problem.finding} ${problem.remedy}`);
        return problem === undefined || problem.isUsable ? 1 : 0;
      },
    });
    metrics.value(USABLE, () => usable.read());
    metrics.value(FREE, () => freeBytes(dataDirectory));
  }
}

@Module({ providers: [DataDirectoryMetrics] })
export class DataDirectoryModule {}
