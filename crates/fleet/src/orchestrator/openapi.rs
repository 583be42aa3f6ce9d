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
        about: About,
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
        let About { mut operation, schemas } = about;
        // OpenAPI has no wildcards.
        let path = path.replace("{*", "{");
        for piece in path.split('/').filter_map(|piece| piece.strip_prefix('{')) {
            let name = piece.trim_end_matches('}');
            let parameter = ParameterBuilder::new().name(name).parameter_in(ParameterIn::Path);
            operation = operation
                .parameter(parameter.required(Required::True).schema(Some(String::schema())));
        }
        self.paths.add_path_operation(path, vec![method], operation);
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
                 codes; a lease that is lost is answered with 409 and StaleLease.",
            ))
            .license(Some(LicenseBuilder::new().name("MIT OR Apache-2.0").build()));
        let bearer = HttpBuilder::new().scheme(HttpAuthScheme::Bearer);
        let bearer = bearer.description(Some("A token; its scope says what it allows."));
        let text = "Remuda key=…,time=…,nonce=…,sig=…: an Ed25519 signature of method, path, time, \
                    nonce and the body's SHA-256, with a key that was enrolled.";
        let signed = ApiKeyValue::with_description(header::AUTHORIZATION.as_str(), text);
        let mut components = ComponentsBuilder::new()
            .security_scheme(Who::TOKEN, SecurityScheme::Http(bearer.build()))
            .security_scheme(Who::SIGNATURE, SecurityScheme::ApiKey(ApiKey::Header(signed)));
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
pub(super) enum Who {
    Anybody,
    /// A token of at least this scope.
    Token(&'static str),
    /// The signature of a registered key.
    Worker,
}

impl Who {
    const TOKEN: &'static str = "token";
    const SIGNATURE: &'static str = "signature";
}

/// Description of a route.
pub(super) struct About {
    operation: OperationBuilder,
    schemas: Vec<Named>,
}

impl About {
    /// `id` is unique; `text` is the summary.
    pub(super) fn new(id: &str, who: Who, text: &str) -> Self {
        let empty: [&str; 0] = [];
        let (tag, scheme) = match who {
            Who::Anybody => ("anybody", None),
            Who::Token(scope) => (scope, Some(Who::TOKEN)),
            Who::Worker => ("worker", Some(Who::SIGNATURE)),
        };
        let mut operation =
            OperationBuilder::new().operation_id(Some(id)).summary(Some(text)).tag(tag);
        if let Some(scheme) = scheme {
            operation = operation.security(SecurityRequirement::new(scheme, empty));
        }
        let about = Self { operation, schemas: Vec::new() };
        match who {
            Who::Anybody => about,
            Who::Token(_) => about.answer::<ErrorBody>("default", "Why not"),
            Who::Worker => about
                .answer::<ErrorBody>("default", "Why not")
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
    pub(super) fn takes<B: Body + ToSchema>(mut self) -> Self {
        let body = RequestBodyBuilder::new().content("application/json", self.message::<B>());
        let body = body.required(Some(Required::True)).build();
        self.operation = self.operation.request_body(Some(body));
        self
    }

    /// Request body: bytes.
    pub(super) fn takes_bytes(mut self) -> Self {
        let bytes = Content::new(Some(ObjectBuilder::new()));
        let body = RequestBodyBuilder::new().content("application/octet-stream", bytes);
        self.operation = self.operation.request_body(Some(body.build()));
        self
    }

    /// Response: JSON.
    pub(super) fn gives<T: ToSchema>(self) -> Self {
        self.answer::<T>("200", "It")
    }

    /// Response: a message.
    pub(super) fn says<B: Body + ToSchema>(self) -> Self {
        self.answer_message::<B>("200", B::TYPE)
    }

    /// Response: one of two messages.
    pub(super) fn says_either<A: Body + ToSchema, B: Body + ToSchema>(mut self) -> Self {
        self.message::<A>();
        self.message::<B>();
        let either = OneOfBuilder::new()
            .item(Ref::from_schema_name(A::name()))
            .item(Ref::from_schema_name(B::name()));
        let text = format!("{} or {}", A::TYPE, B::TYPE);
        self.respond("200", &text, Content::new(Some(Schema::from(either))))
    }

    /// Response: 201 if new, 200 if it existed.
    pub(super) fn makes<T: ToSchema>(self) -> Self {
        self.answer::<T>("201", "It is new").answer::<T>("200", "It was there")
    }

    /// Response: text or bytes of this content type.
    pub(super) fn gives_text(mut self, kind: &str) -> Self {
        let content = Content::new(Some(String::schema()));
        let response = ResponseBuilder::new().description(kind).content(kind, content);
        self.operation = self.operation.response("200", response.build());
        self
    }

    /// Response: 200, empty.
    pub(super) fn does(self) -> Self {
        self.done("200")
    }

    /// Response: 201, empty.
    pub(super) fn keeps(self) -> Self {
        self.done("201")
    }

    fn done(mut self, status: &str) -> Self {
        let response = ResponseBuilder::new().description("Done");
        self.operation = self.operation.response(status, response.build());
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
        self.operation = self.operation.parameter(parameter);
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
        self.operation = self.operation.response(status, response.build());
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
