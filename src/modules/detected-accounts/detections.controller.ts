import { Body, Controller, Post } from '@nestjs/common';
import { Topic } from '../../infrastructure/openapi/index.js';
import { InternalOperation } from '../../infrastructure/surfaces/index.js';
import { CREATE_DETECTION } from './detected-accounts.docs.js';
import { CreateDetectionRequest } from './detected-accounts.dto.js';
import { EventResponse } from '../webhooks/index.js';
import { DetectedAccountsService } from './detected-accounts.service.js';

@Topic('Detections', 'Records the accounts that the platform detects.')
@Controller('detections')
export class DetectionsController {
  constructor(private readonly detectedAccounts: DetectedAccountsService) {}

  @Post()
  @InternalOperation(CREATE_DETECTION, 'detections:write')
  create(@Body() request: CreateDetectionRequest): Promise<EventResponse> {
    return this.detectedAccounts.create(request);
  }
}
