import { Controller, Get, Param, Post, Query } from '@nestjs/common';
import { CurrentActor, type DashboardActor } from '../../../infrastructure/auth/index.js';
import type { PlatformEnvironment } from '../../../infrastructure/config/index.js';
import { Origin, type FormFields, type RequestOrigin } from '../../../infrastructure/http/index.js';
import {
  DashboardAction,
  dashboardPath,
  DashboardPage,
  FormBody,
  inEachEnvironment,
  PageEnvironment,
  PageRoute,
  queryFrom,
  requestFrom,
  submitted,
  type PageResponse,
} from '../../../infrastructure/pages/index.js';
import { AgentAuthorizationsService } from '../authorizations/agent-authorizations.service.js';
import { AgentUserRequest } from '../authorizations/authorizations.dto.js';
import { ListAgentConnectionsQuery } from '../connections/agent-connections.dto.js';
import { AgentConnectionsService } from '../connections/agent-connections.service.js';
import { CreateAgentRequest, UpdateAgentSettingsRequest } from '../settings/agent-settings.dto.js';
import { AgentSettingsService } from '../settings/agent-settings.service.js';
import {
  agentsPage,
  disconnectPage,
  registerPage,
  removePage,
  sandboxLoginPage,
  settingsPage,
} from './agents.pages.js';

/** The pages of the dashboard about agents that users have connected, and about those that may log in. */
@Controller(inEachEnvironment('agents'))
export class AgentPagesController {
  constructor(
    private readonly connections: AgentConnectionsService,
    private readonly settings: AgentSettingsService,
    private readonly authorizations: AgentAuthorizationsService,
  ) {}

  @Get()
  @DashboardPage('listAgentConnections', ListAgentConnectionsQuery)
  list(
    @CurrentActor() actor: DashboardActor,
    @PageEnvironment() environment: PlatformEnvironment,
    @Query() query: Readonly<Record<string, string>>,
  ): Promise<PageResponse> {
    return submitted(
      async () =>
        agentsPage({
          found: await this.connections.list(
            actor,
            queryFrom(ListAgentConnectionsQuery, query, { environment }),
          ),
        }),
      () => agentsPage({}),
    );
  }

  @Get('connections/:id/disconnect')
  @DashboardPage('disconnectAgent')
  startDisconnecting(
    @PageEnvironment() environment: PlatformEnvironment,
    @Param('id') id: string,
  ): PageResponse {
    return disconnectPage(environment, id);
  }

  @Post('connections/:id/disconnect')
  @DashboardAction('disconnectAgent')
  async disconnect(
    @CurrentActor() actor: DashboardActor,
    @PageEnvironment() environment: PlatformEnvironment,
    @Param('id') id: string,
    @Origin() origin: RequestOrigin,
  ): Promise<PageResponse> {
    await this.connections.disconnect(actor, id, origin);
    return doneOf(environment, 'disconnected');
  }

  /** The login of the sandbox, for an authorization that began at the agent connector. */
  @Get('log-in')
  @DashboardPage('listAgentConnections')
  startLoggingIn(
    @PageEnvironment() environment: PlatformEnvironment,
    @Query('authorization_id') id: unknown,
  ): PageResponse {
    return sandboxLoginPage(environment, String(id));
  }

  @Post('log-in')
  @PageRoute({ login: true, operation: 'listAgentConnections', form: true })
  logIn(
    @CurrentActor() actor: DashboardActor,
    @PageEnvironment() environment: PlatformEnvironment,
    @FormBody() form: FormFields,
  ): Promise<PageResponse> {
    const id = form.get('authorization_id') ?? '';
    return submitted(
      async () => {
        const client = await this.settings.requireSandbox(actor, environment);
        const { redirect_url: redirectTo } = await this.authorizations.complete(
          client,
          id,
          requestFrom(AgentUserRequest, form),
        );
        return { redirectTo };
      },
      () => sandboxLoginPage(environment, id),
    );
  }

  @Get('settings')
  @DashboardPage('getAgentSettings')
  async showSettings(
    @CurrentActor() actor: DashboardActor,
    @PageEnvironment() environment: PlatformEnvironment,
  ): Promise<PageResponse> {
    return settingsPage(environment, await this.settings.get(actor, environment));
  }

  @Post('settings')
  @DashboardAction('updateAgentSettings')
  updateSettings(
    @CurrentActor() actor: DashboardActor,
    @PageEnvironment() environment: PlatformEnvironment,
    @FormBody() form: FormFields,
  ): Promise<PageResponse> {
    return submitted(
      async () => {
        const hosts = wordsIn(form.get('allowed_hosts'));
        const more = { environment, allowed_hosts: hosts.length > 0 ? hosts : undefined };
        await this.settings.update(actor, requestFrom(UpdateAgentSettingsRequest, form, more));
        return doneOf(environment, 'saved', 'settings');
      },
      async () => settingsPage(environment, await this.settings.get(actor, environment)),
    );
  }

  @Get('register')
  @DashboardPage('createAgent')
  startRegistering(@PageEnvironment() environment: PlatformEnvironment): PageResponse {
    return registerPage(environment);
  }

  @Post('register')
  @DashboardAction('createAgent')
  register(
    @CurrentActor() actor: DashboardActor,
    @PageEnvironment() environment: PlatformEnvironment,
    @FormBody() form: FormFields,
  ): Promise<PageResponse> {
    return submitted(
      async () => {
        const more = { environment, redirect_uris: wordsIn(form.get('redirect_uris')) };
        await this.settings.register(actor, requestFrom(CreateAgentRequest, form, more));
        return doneOf(environment, 'registered', 'settings');
      },
      () => registerPage(environment),
    );
  }

  @Get(':id/remove')
  @DashboardPage('deleteAgent')
  startRemoving(@PageEnvironment() environment: PlatformEnvironment, @Param('id') id: string): PageResponse {
    return removePage(environment, id);
  }

  @Post(':id/remove')
  @DashboardAction('deleteAgent')
  async remove(
    @CurrentActor() actor: DashboardActor,
    @PageEnvironment() environment: PlatformEnvironment,
    @Param('id') id: string,
  ): Promise<PageResponse> {
    await this.settings.remove(actor, id);
    return doneOf(environment, 'removed', 'settings');
  }
}

function doneOf(environment: PlatformEnvironment, done: string, page?: 'settings'): PageResponse {
  const path = dashboardPath(environment, 'agents') + (page === undefined ? '' : `/${page}`);
  return { redirectTo: `${path}?done=${done}` };
}

/** Returns the lines of a text area. */
function wordsIn(text: string | undefined): string[] {
  return (text ?? '').split(/[\s,]+/).filter(Boolean);
}
