import { Controller, Get, Req, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { ASSET_PATHS, sendAsset } from './assets.js';

@ApiExcludeController()
@Controller()
export class AssetsController {
  @Get(ASSET_PATHS)
  asset(@Req() request: Request, @Res() response: Response): Promise<void> {
    return sendAsset(request, response);
  }
}
