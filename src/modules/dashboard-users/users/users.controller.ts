import { Body, Controller, Delete, Get, Param, Patch, Post } from '@nestjs/common';
import { CurrentActor, type DashboardActor } from '../../../infrastructure/auth/index.js';
import { Topic } from '../../../infrastructure/openapi/index.js';
import { DashboardOperation } from '../../../infrastructure/surfaces/index.js';
import { UserAdministrationService } from './user-administration.service.js';
import { CreateUserRequest, UpdateUserRequest, UserResponse } from './users.dto.js';
import { LIST_USERS, CREATE_USER, UPDATE_USER, DELETE_USER } from './users.docs.js';

@Topic('Users', 'The users of the dashboard. Requires a login.')
@Controller()
export class UsersController {
  constructor(private readonly users: UserAdministrationService) {}

  @Get('users')
  @DashboardOperation(LIST_USERS)
  list(@CurrentActor() actor: DashboardActor): Promise<UserResponse[]> {
    return this.users.list(actor);
  }

  @Post('users/create')
  @DashboardOperation(CREATE_USER)
  create(@CurrentActor() actor: DashboardActor, @Body() request: CreateUserRequest): Promise<UserResponse> {
    return this.users.invite(actor, request);
  }

  @Patch('users/:id')
  @DashboardOperation(UPDATE_USER)
  update(
    @CurrentActor() actor: DashboardActor,
    @Param('id') id: string,
    @Body() request: UpdateUserRequest,
  ): Promise<UserResponse> {
    return this.users.update(actor, id, request);
  }

  @Delete('users/:id')
  @DashboardOperation(DELETE_USER)
  remove(@CurrentActor() actor: DashboardActor, @Param('id') id: string): Promise<UserResponse> {
    return this.users.remove(actor, id);
  }
}
