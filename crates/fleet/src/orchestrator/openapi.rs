//! `GET /openapi.json`: the description of the API.
//!
//! [`Api::on`] adds a route and its description in one call, so neither exists without the other. Schemas
//! come from the types on the wire.
//!
//! Not `utoipa-axum`: it writes one path into both the router and the document, which differ for wildcards
//! (`{*path}`), and its macro describes a handler once, while `report::<M>` serves six routes.

use super::app::App;
use crate::message::{Body, ErrorBody, StaleLease};
use axum::Router;
use axum::handler::Handler;
use axum::http::header;
use axum::response::IntoResponse;
use axum::routing::{MethodFilter, on};
use std::sync::LazyLock;
use utoipa::openapi::path::{
    HttpMethod, OperationBuilder, Parameter, ParameterBuilder, ParameterIn, Paths,
};
use utoipa::openapi::request_body::RequestBodyBuilder;
use utoipa::openapi::schema::{
    ComponentsBuilder, ObjectBuilder, OneOfBuilder, Schema, SchemaType, Type,
};
use utoipa::openapi::security::{
    ApiKey, ApiKeyValue, HttpAuthScheme, HttpBuilder, SecurityRequirement, SecurityScheme,
};
use utoipa::openapi::{
    Content, InfoBuilder, LicenseBuilder, OpenApi, OpenApiBuilder, Ref, RefOr, Required,
    ResponseBuilder,
};
use utoipa::{PartialSchema, ToSchema};

type Named = (String, RefOr<Schema>);

/// Routes and their descriptions.
#[derive(Default)]
pub(super) struct Api {
    router: Router<App>,
    paths: Paths,
    schemas: Vec<Named>,
}

impl Api {
    pub(super) fn on<H, T>(
        mut self,
        method: HttpMethod,
        path: &str,
        handler: H,
        operation: Operation,
    ) -> Self
    where
        H: Handler<T, App>,
        T: 'static,
    {
        let filter = match method {
            HttpMethod::Post => MethodFilter::POST,
            HttpMethod::Put => MethodFilter::PUT,
            HttpMethod::Delete => MethodFilter::DELETE,
            _ => MethodFilter::GET,
        };
        self.router = self.router.route(path, on(filter, handler));
        let Operation { mut builder, schemas } = operation;
        // OpenAPI has no wildcards.
        let path = path.replace("{*", "{");
        for piece in path.split('/').filter_map(|piece| piece.strip_prefix('{')) {
            let name = piece.trim_end_matches('}');
            let parameter = ParameterBuilder::new().name(name).parameter_in(ParameterIn::Path);
            builder = builder
                .parameter(parameter.required(Required::True).schema(Some(String::schema())));
        }
        self.paths.add_path_operation(path, vec![method], builder);
        self.schemas.extend(schemas);
        self
    }

    pub(super) fn router(self) -> Router<App> {
        self.router
    }

    pub(super) fn document(self) -> OpenApi {
        let info = InfoBuilder::new()
            .title("Remuda fleet orchestrator")
            .version(env!("CARGO_PKG_VERSION"))
            .description(Some(
                "Jobs under fenced leases. Errors are {\"error\": {code, message}} with stable \
                 codes; a lost lease is answered with 409 and StaleLease.",
            ))
            .license(Some(LicenseBuilder::new().name("MIT OR Apache-2.0").build()));
        let bearer = HttpBuilder::new().scheme(HttpAuthScheme::Bearer);
        let bearer = bearer.description(Some("A token with a sufficient scope."));
        let text = "Remuda key=…,time=…,nonce=…,sig=…: an Ed25519 signature of method, path, time, \
                    nonce and the body's SHA-256, by an enrolled key.";
        let signed = ApiKeyValue::with_description(header::AUTHORIZATION.as_str(), text);
        let mut components = ComponentsBuilder::new()
            .security_scheme(Auth::TOKEN, SecurityScheme::Http(bearer.build()))
            .security_scheme(Auth::SIGNATURE, SecurityScheme::ApiKey(ApiKey::Header(signed)));
        for (name, schema) in self.schemas {
            components = components.schema(name, schema);
        }
        OpenApiBuilder::new()
            .info(info)
            .paths(self.paths)
            .components(Some(components.build()))
            .build()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Auth {
    None,
    /// A token of at least this scope.
    Token(&'static str),
    /// The signature of a registered key.
    Worker,
}

impl Auth {
    const TOKEN: &'static str = "token";
    const SIGNATURE: &'static str = "signature";
}

/// Description of a route.
pub(super) struct Operation {
    builder: OperationBuilder,
    schemas: Vec<Named>,
}

impl Operation {
    /// `id` is unique; `text` is the summary.
    pub(super) fn new(id: &str, auth: Auth, text: &str) -> Self {
        let empty: [&str; 0] = [];
        let (tag, scheme) = match auth {
            Auth::None => ("anybody", None),
            Auth::Token(scope) => (scope, Some(Auth::TOKEN)),
            Auth::Worker => ("worker", Some(Auth::SIGNATURE)),
        };
        let mut builder =
            OperationBuilder::new().operation_id(Some(id)).summary(Some(text)).tag(tag);
        if let Some(scheme) = scheme {
            builder = builder.security(SecurityRequirement::new(scheme, empty));
        }
        let operation = Self { builder, schemas: Vec::new() };
        match auth {
            Auth::None => operation,
            Auth::Token(_) => operation.answer::<ErrorBody>("default", "Error"),
            Auth::Worker => operation
                .answer::<ErrorBody>("default", "Error")
                .answer_message::<StaleLease>("409", "The lease is lost"),
        }
    }

    fn named<T: ToSchema>(&mut self) -> Content {
        self.schemas.push((T::name().into_owned(), T::schema()));
        T::schemas(&mut self.schemas);
        Content::new(Some(Ref::from_schema_name(T::name())))
    }

    /// Schema of a message, with its `type`, which is no field of the Rust type.
    fn message<B: Body + ToSchema>(&mut self) -> Content {
        let content = self.named::<B>();
        for (name, schema) in &mut self.schemas {
            if let RefOr::T(Schema::Object(object)) = schema
                && *name == B::name()
            {
                let kind = ObjectBuilder::new()
                    .schema_type(SchemaType::new(Type::String))
                    .enum_values(Some([B::TYPE]));
                object.properties.insert("type".to_owned(), kind.into());
            }
        }
        content
    }

    /// Request body: a message.
    pub(super) fn body<B: Body + ToSchema>(mut self) -> Self {
        let body = RequestBodyBuilder::new().content("application/json", self.message::<B>());
        let body = body.required(Some(Required::True)).build();
        self.builder = self.builder.request_body(Some(body));
        self
    }

    /// Request body: bytes.
    pub(super) fn body_bytes(mut self) -> Self {
        let bytes = Content::new(Some(ObjectBuilder::new()));
        let body = RequestBodyBuilder::new().content("application/octet-stream", bytes);
        self.builder = self.builder.request_body(Some(body.build()));
        self
    }

    /// Response: JSON.
    pub(super) fn returns<T: ToSchema>(self) -> Self {
        self.answer::<T>("200", "OK")
    }

    /// Response: a message.
    pub(super) fn returns_message<B: Body + ToSchema>(self) -> Self {
        self.answer_message::<B>("200", B::TYPE)
    }

    /// Response: one of two messages.
    pub(super) fn returns_either<A: Body + ToSchema, B: Body + ToSchema>(mut self) -> Self {
        self.message::<A>();
        self.message::<B>();
        let either = OneOfBuilder::new()
            .item(Ref::from_schema_name(A::name()))
            .item(Ref::from_schema_name(B::name()));
        let text = format!("{} or {}", A::TYPE, B::TYPE);
        self.respond("200", &text, Content::new(Some(Schema::from(either))))
    }

    /// Response: 201 if new, 200 if it existed.
    pub(super) fn creates<T: ToSchema>(self) -> Self {
        self.answer::<T>("201", "Created").answer::<T>("200", "Existed")
    }

    /// Response: text or bytes of this content type.
    pub(super) fn returns_text(mut self, kind: &str) -> Self {
        let content = Content::new(Some(String::schema()));
        let response = ResponseBuilder::new().description(kind).content(kind, content);
        self.builder = self.builder.response("200", response.build());
        self
    }

    /// Response: 200, empty.
    pub(super) fn returns_nothing(self) -> Self {
        self.done("200")
    }

    /// Response: 201, empty.
    pub(super) fn returns_created(self) -> Self {
        self.done("201")
    }

    fn done(mut self, status: &str) -> Self {
        let response = ResponseBuilder::new().description("Done");
        self.builder = self.builder.response(status, response.build());
        self
    }

    pub(super) fn query(self, name: &str, text: &str) -> Self {
        self.parameter(ParameterIn::Query, name, text)
    }

    pub(super) fn header(self, name: &str, text: &str) -> Self {
        self.parameter(ParameterIn::Header, name, text)
    }

    fn parameter(mut self, place: ParameterIn, name: &str, text: &str) -> Self {
        let parameter: Parameter = ParameterBuilder::new()
            .name(name)
            .parameter_in(place)
            .required(Required::False)
            .description(Some(text))
            .schema(Some(String::schema()))
            .build();
        self.builder = self.builder.parameter(parameter);
        self
    }

    fn answer<T: ToSchema>(mut self, status: &str, text: &str) -> Self {
        let content = self.named::<T>();
        self.respond(status, text, content)
    }

    fn answer_message<B: Body + ToSchema>(mut self, status: &str, text: &str) -> Self {
        let content = self.message::<B>();
        self.respond(status, text, content)
    }

    fn respond(mut self, status: &str, text: &str, content: Content) -> Self {
        let response =
            ResponseBuilder::new().description(text).content("application/json", content);
        self.builder = self.builder.response(status, response.build());
        self
    }
}

static DOCUMENT: LazyLock<String> = LazyLock::new(|| {
    let document = super::router::routes().document();
    document.to_json().unwrap_or_else(|error| {
        tracing::error!(%error, "OpenAPI serialisation failed");
        "{}".to_owned()
    })
});

/// `GET /openapi.json`
pub(super) async fn openapi() -> impl IntoResponse {
    ([(header::CONTENT_TYPE, "application/json")], DOCUMENT.as_str())
}
