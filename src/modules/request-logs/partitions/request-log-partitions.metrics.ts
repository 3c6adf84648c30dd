import { Injectable } from '@nestjs/common';
import { PartitionMetrics } from '../../../infrastructure/database/index.js';

/** Has the partitions of the request log measured. */
@Injectable()
export class RequestLogPartitionsMetrics {
  constructor(partitions: PartitionMetrics) {
    partitions.watch('request_log');
  }
}
