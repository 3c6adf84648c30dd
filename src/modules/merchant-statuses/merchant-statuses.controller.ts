import { Body, Controller, Get, Param, Put } from '@nestjs/common';
import { Topic } from '../../infrastructure/openapi/index.js';
import { InternalOperation } from '../../infrastructure/surfaces/index.js';
import {
  LIST_MERCHANT_STATUSES,
  MerchantStatusResponse,
  SET_MERCHANT_STATUS,
  SetMerchantStatusRequest,
} from './merchant-statuses.dto.js';
import { MerchantStatusesService } from './merchant-statuses.service.js';

@Topic('Merchant statuses', 'Whether sessions work at the merchants.')
@Controller('merchants')
export class MerchantStatusesController {
  constructor(private readonly statuses: MerchantStatusesService) {}

  @Put(':id/status')
  @InternalOperation(SET_MERCHANT_STATUS, 'events:publish')
  set(@Param('id') id: string, @Body() request: SetMerchantStatusRequest): Promise<MerchantStatusResponse> {
    return this.statuses.set(id, request);
  }

  @Get(':id/status')
  @InternalOperation(LIST_MERCHANT_STATUSES, 'events:publish')
  list(@Param('id') id: string): Promise<MerchantStatusResponse[]> {
    return this.statuses.list(id);
  }
}
