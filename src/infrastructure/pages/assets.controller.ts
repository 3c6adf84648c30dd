import { Controller, Get, Req, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { NOT_FOUND } from '../errors/index.js';
import { ASSETS } from './assets.js';

@ApiExcludeController()
@Controller()
export class AssetsController {
  @Get([...ASSETS.keys()])
  async asset(@Req() request: Request, @Res() response: Response): Promise<void> {
    const content = ASSETS.get(request.path);
    if (!content) throw NOT_FOUND.error();
    await content.send(request, response);
  }
}
