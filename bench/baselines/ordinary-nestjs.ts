/**
 * Baseline for operation 1: the same operation as the documentation of NestJS shows how to write it, with a Passport strategy,
 * the validation pipe, repositories and an interceptor. Each request reads the client, and saves the token and the log entry.
 */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import {
  Body,
  Controller,
  HttpCode,
  Injectable,
  Logger,
  Module,
  Post,
  Req,
  UseGuards,
  UseInterceptors,
  ValidationPipe,
  type CallHandler,
  type ExecutionContext,
  type NestInterceptor,
} from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { AuthGuard, PassportModule, PassportStrategy } from '@nestjs/passport';
import { InjectRepository, TypeOrmModule } from '@nestjs/typeorm';
import { IsInt, IsOptional, IsString, Max, MaxLength, Min } from 'class-validator';
import type { Request, Response } from 'express';
import { BasicStrategy } from 'passport-http';
import { mergeMap, type Observable } from 'rxjs';
import { Column, Entity, PrimaryColumn, PrimaryGeneratedColumn, Repository } from 'typeorm';

const digestOf = (text: string): Buffer => createHash('sha256').update(text).digest();
const DAY = 86_400;

@Entity()
class Client {
  @PrimaryColumn('uuid')
  id!: string;

  @Column('bytea')
  secretHash!: Buffer;
}

@Entity()
class McpToken {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column('bytea')
  tokenHash!: Buffer;

  @Column('uuid')
  clientId!: string;

  @Column('text')
  externalUserId!: string;

  @Column('timestamptz')
  expiresAt!: Date;
}

@Entity()
class LogEntry {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column('uuid')
  clientId!: string;

  @Column('text')
  path!: string;

  @Column('integer')
  statusCode!: number;

  @Column('integer')
  milliseconds!: number;

  @Column('text')
  externalUserId!: string;

  @Column('timestamptz')
  createdAt!: Date;
}

class CreateTokenDto {
  @IsString()
  @MaxLength(256)
  external_user_id!: string;

  @IsOptional()
  @IsInt()
  @Min(60)
  @Max(DAY)
  expires_in?: number;
}

@Injectable()
class ClientStrategy extends PassportStrategy(BasicStrategy) {
  constructor(@InjectRepository(Client) private readonly clients: Repository<Client>) {
    super();
  }

  async validate(id: string, secret: string): Promise<Client | false> {
    const client = await this.clients.findOneBy({ id });
    return client && timingSafeEqual(client.secretHash, digestOf(secret)) ? client : false;
  }
}

@Injectable()
class LogInterceptor implements NestInterceptor {
  private readonly logger = new Logger('Http');

  constructor(@InjectRepository(LogEntry) private readonly entries: Repository<LogEntry>) {}

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const request = context.switchToHttp().getRequest<Request & { user: Client; body: CreateTokenDto }>();
    const { statusCode } = context.switchToHttp().getResponse<Response>();
    const createdAt = new Date();
    return next.handle().pipe(
      mergeMap(async (result: unknown) => {
        const milliseconds = Date.now() - createdAt.getTime();
        const { path, method } = request;
        const externalUserId = request.body.external_user_id;
        await this.entries.save({
          clientId: request.user.id,
          path,
          statusCode,
          milliseconds,
          externalUserId,
          createdAt,
        });
        this.logger.log({ method, path, statusCode, milliseconds });
        return result;
      }),
    );
  }
}

@Controller('mcp/tokens')
@UseGuards(AuthGuard('basic'))
@UseInterceptors(LogInterceptor)
class TokensController {
  constructor(@InjectRepository(McpToken) private readonly tokens: Repository<McpToken>) {}

  @Post('create')
  @HttpCode(200)
  async create(@Body() body: CreateTokenDto, @Req() { user }: { user: Client }): Promise<object> {
    const token = randomBytes(32).toString('base64url');
    const expiresAt = new Date(Date.now() + (body.expires_in ?? DAY) * 1_000);
    await this.tokens.save({
      tokenHash: digestOf(token),
      clientId: user.id,
      externalUserId: body.external_user_id,
      expiresAt,
    });
    return { token, expires_at: expiresAt };
  }
}

@Module({
  imports: [
    PassportModule,
    TypeOrmModule.forRoot({
      type: 'postgres',
      url: process.env['DATABASE_URL'] ?? '',
      entities: [Client, McpToken, LogEntry],
      synchronize: true,
    }),
    TypeOrmModule.forFeature([Client, McpToken, LogEntry]),
  ],
  controllers: [TokensController],
  providers: [ClientStrategy, LogInterceptor],
})
class OrdinaryModule {}

const app = await NestFactory.create(OrdinaryModule);
app.useGlobalPipes(new ValidationPipe({ transform: true, whitelist: true }));
app.enableShutdownHooks();
const { CLIENT_ID: id = '', CLIENT_SECRET: secret = '', PORT } = process.env;
await app.get<Repository<Client>>('ClientRepository').save({ id, secretHash: digestOf(secret) });
await app.listen(Number(PORT), '127.0.0.1');
console.log('ready');
